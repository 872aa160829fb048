"""`whence contract`: data contracts next to the code."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import choice_option
from whence.cli.gate.forms import Report
from whence.cli.output.streams import Output, reporting

app = typer.Typer(name="contract", help="Data contracts of the Open Data Contract Standard.", no_args_is_help=True)

_CHECK_EPILOG = (
    "Exit codes: 0 all are valid; 5 one has a mistake; 1 a file cannot be read, or a directory has no contract; "
    "2 wrong usage."
)

Contracts = Annotated[
    list[Path], typer.Argument(exists=True, help="Contracts, or directories with files *.odcs.yaml; may be repeated")
]


@app.command(epilog=_CHECK_EPILOG)
def check(
    files: Contracts,
    output: Annotated[Report, choice_option(Report, "--output", "-o", help="The form of the report")] = Report.TEXT,
) -> None:
    """Check contracts against the schema of their standard: every mistake with its file and line."""
    from whence.cli.gate.contract_files import show_checked

    with reporting(Output.JSON if output is Report.JSON else Output.TEXT):
        raise typer.Exit(show_checked(files, output))
