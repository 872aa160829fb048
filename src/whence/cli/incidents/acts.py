"""`whence incident acknowledge`, `resolve` and the others: people act on incidents through the server."""

from typing import Any

import msgspec
from rich.text import Text

from whence.cli.incidents.shown import detail_lines
from whence.cli.output.streams import Exit, Output, print_document, print_lines
from whence.client.questions import connect
from whence.model.records.incidents import ActText


def act(id_: str, kind: ActText, url: str, output: Output, **members: Any) -> Exit:
    """Act on an incident, in the name of the key, and print it as it is then. Raises QuestionError if the act would
    change nothing, AccessError without the role or sight of the root, ApiError.
    """
    with connect(url) as questions:
        questions.act_on_incident(id_, kind, **members)
        after = questions.incident(id_)
    if output is Output.JSON:
        print_document(msgspec.to_builtins(after))
    else:
        print_lines(map(Text, detail_lines(after, id_)))
    return Exit.OK
