"""`whence gameday`: faults injected into a copy of a store, and whether they are found."""

from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Store
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

app = typer.Typer(
    name="gameday",
    help="Game days: inject faults into a copy of a store, and score what is found.",
    no_args_is_help=True,
)

_RUN_EPILOG = (
    "Exit codes: 0 all scenarios passed; 5 one failed; 2 wrong usage, or a mistake in a file; 4 the store is "
    "unavailable."
)
Scenarios = Annotated[list[str] | None, typer.Argument(help="Names, or files; without any, all that come with Whence")]


@app.command(name="list")
def list_scenarios(output: Form = Output.TEXT) -> None:
    """List the scenarios that come with Whence."""
    from whence.cli.gamedays.run import show_scenarios

    with reporting(output):
        raise typer.Exit(show_scenarios(output))


@app.command(epilog=_RUN_EPILOG)
def run(
    scenarios: Scenarios = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Play in a copy of the store, beside its data, not in an empty one")
    ] = False,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Run scenarios, and print whether each fault was detected, explained, routed, contained and closed."""
    from whence.cli.gamedays.run import show_reports

    with reporting(output):
        url = store_url(data_directory(data), store) if copy else None
        raise typer.Exit(show_reports(scenarios or [], url, output))
