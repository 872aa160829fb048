"""`whence breaker`: a command for a job that serves predictions, before it uses the newest data."""

from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Node, ServerUrl, Store, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

_EPILOG = (
    "Exit codes: 0 closed: use the newest data; 5 open: do not; 7 cannot know; 1 no such node; 2 wrong usage; "
    "4 the server or store does not respond."
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EPILOG)(breaker)


def breaker(
    node: Node,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="As it was at this time: 2h ago"),
    ] = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Say whether a model, job or dataset may use the newest data that it reads, and why not."""
    from whence.cli.incidents.breaker import show_breaker
    from whence.cli.incidents.store import open_incidents
    from whence.client.questions import connect

    with reporting(output):
        with connect(url) if url else open_incidents(store_url(data_directory(data), store)) as questions:
            code = show_breaker(questions, node, as_of, output)
        raise typer.Exit(code)
