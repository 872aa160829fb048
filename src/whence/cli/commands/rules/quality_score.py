"""`whence score`: how far a dataset may be relied on, as a number, and which dataset limits it."""

from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Node, ServerUrl, Store, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

_EPILOG = (
    "Exit codes: 0 printed, or at least --least; 5 less than --least; 7 that cannot be known; 1 no such dataset; "
    "2 wrong usage; 4 the server or store does not respond."
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=_EPILOG)(score)


def score(
    node: Node,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="As it was at this time: 2h ago"),
    ] = None,
    least: Annotated[
        float | None, typer.Option("--least", min=0, max=1, help="Exit with 5 if the score is less than this")
    ] = None,
    *,
    url: ServerUrl = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Print the quality score of a dataset, from 0 to 1, and the dataset upstream that limits it."""
    from whence.cli.certification.quality_score import open_scores, show_score
    from whence.client.questions import connect

    with reporting(output):
        with connect(url) if url else open_scores(store_url(data_directory(data), store)) as questions:
            code = show_score(questions, node, as_of, least, output)
        raise typer.Exit(code)
