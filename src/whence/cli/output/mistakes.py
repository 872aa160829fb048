"""The mistakes of a file of rules, as text and JSON."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import RulesFileError


def print_mistakes(error: RulesFileError, output: Output, rest: Mapping[str, Any]) -> Exit:
    """Print every mistake of a file, a line each. `rest`: the other members of the JSON."""
    if output is Output.JSON:
        print_document({"valid": False, "mistakes": list(map(_document, error.mistakes)), **rest})
    else:
        print_lines(Text(safe(str(one))) for one in error.mistakes)
    return Exit.BLOCKED


def _document(mistake: RulesFileError) -> dict[str, str | int]:
    file, _, line = mistake.path.rpartition(":")
    return {"file": file, "line": int(line), "text": mistake.reason}
