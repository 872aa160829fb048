"""`whence versions`: the timeline of a dataset's versions."""

from typing import Annotated

import typer

from whence.cli.commands.options import MOST, Node, RowsForm, Url, parse_past_instant
from whence.cli.output.streams import Output, Rows, reporting
from whence.query.answers.instants import iso


def versions(
    node: Node,
    since: Annotated[
        int | None,
        typer.Option(
            "--since", parser=parse_past_instant, metavar="TIME", help="When it broke: marks the version to restore"
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 20,
    *,
    url: Url,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the versions of a table, such as of Delta or Iceberg: which run made each, when, and with how many rows."""
    from whence.cli.containment.versions import show_versions
    from whence.client.questions import connect

    with reporting(Output.JSON if output is Rows.JSON else Output.TEXT), connect(url) as questions:
        broke = None if since is None else iso(since)
        raise typer.Exit(show_versions(questions, node, since=broke, limit=limit, output=output))
