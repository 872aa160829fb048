"""`whence slo`: service level objectives next to the code."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Store, parse_age, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

app = typer.Typer(
    name="slo",
    help="Service level objectives of datasets: freshness, deliveries, quality, volume.",
    no_args_is_help=True,
)

_CHECK_EPILOG = "Exit codes: 0 the file is valid; 5 it has a mistake; 1 it cannot be read; 2 wrong usage."
_EVALUATE_EPILOG = (
    "Exit codes: 0 all hold, or still learn from a short history; 5 one is violated; 7 none is violated, and one is "
    "not evaluated; 2 wrong usage, or a mistake in the file; 4 the store is unavailable."
)
_BACKTEST_EPILOG = (
    "Exit codes: 0 replayed, whatever was found; 2 wrong usage, or a mistake in the file; 4 the store is unavailable."
)

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The objectives, such as slos.yaml")]


@app.command(epilog=_CHECK_EPILOG)
def check(file: File, output: Form = Output.TEXT) -> None:
    """Check a file of objectives, and print them with the factors of their alerts. A mistake has its file and line."""
    from whence.cli.slos.files import show_checked

    with reporting(output):
        raise typer.Exit(show_checked(file, output))


@app.command(epilog=_EVALUATE_EPILOG)
def evaluate(
    file: File,
    as_of: Annotated[
        int | None,
        typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="What held at this time: 2h ago"),
    ] = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Evaluate the objectives of a file against the store: what holds, since when, and what is left of the budgets."""
    from whence.cli.slos.evaluation import show_evaluated

    with reporting(output):
        raise typer.Exit(show_evaluated(file, store_url(data_directory(data), store), as_of, output))


@app.command(epilog=_BACKTEST_EPILOG)
def backtest(
    file: File,
    since: Annotated[
        int,
        typer.Option("--since", parser=parse_age, metavar="AGE", help="How far back, such as 90d", show_default="90d"),
    ] = "90d",  # type: ignore[assignment]
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Replay the past of the store: which violations there were, and which pages and tickets would have been sent."""
    from whence.cli.slos.evaluation import show_backtest

    with reporting(output):
        raise typer.Exit(show_backtest(file, store_url(data_directory(data), store), since, output))
