"""`whence certification`: which datasets may be relied on, by rules next to the code."""

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.commands.options import Data, Form, Store, Url, parse_past_instant
from whence.cli.output.streams import Output, reporting
from whence.cli.settings import data_directory, store_url

app = typer.Typer(
    name="certification",
    help="Certification of datasets by rules: owner, contract, lineage, objectives, checks.",
    no_args_is_help=True,
)

_CHECK_EPILOG = "Exit codes: 0 the file is valid; 5 it has a mistake; 1 it cannot be read; 2 wrong usage."
_STATUS_EPILOG = (
    "Exit codes: 0 certified; 5 a requirement is not met; 7 none is unmet, one is not evaluated, or no rule applies; "
    "1, 2 and 4 as everywhere."
)

AsOf = Annotated[
    int | None,
    typer.Option("--as-of", parser=parse_past_instant, metavar="TIME", help="What held at this time: 2h ago"),
]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The rules, such as certification.yaml")]


@app.command(epilog=_CHECK_EPILOG)
def check(file: File, output: Form = Output.TEXT) -> None:
    """Check a file of rules, and print what each requires. A mistake has its file and line."""
    from whence.cli.certification.files import show_checked

    with reporting(output):
        raise typer.Exit(show_checked(file, output))


@app.command(epilog=_STATUS_EPILOG)
def evaluate(
    file: File,
    as_of: AsOf = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Evaluate the rules of a file against the store, before they are declared: which datasets they would certify."""
    from whence.cli.certification.shown import show_evaluated

    with reporting(output):
        raise typer.Exit(show_evaluated(file, store_url(data_directory(data), store), as_of, output))


@app.command()
def apply(
    file: File,
    prune: Annotated[
        bool, typer.Option("--prune", help="End the rules of the file's namespaces that are not in it")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would change")] = False,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Declare the rules of a file, as an event for each namespace. Needs a steward of these."""
    from whence.cli.certification.applied import show_applied

    with reporting(output):
        raise typer.Exit(show_applied(file, url, output, prune=prune, dry_run=dry_run))


@app.command(name="list")
def list_(
    namespace: Annotated[str, typer.Option("--namespace", help="Only the datasets of this namespace")] = "",
    status: Annotated[
        str, typer.Option("--status", help="Only those that are certified, 'not certified' or 'not evaluated'")
    ] = "",
    as_of: AsOf = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """List the datasets that have a rule: which are certified, and what the others lack."""
    from whence.cli.certification.shown import show_all
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_all(questions, namespace, status, as_of, output))


@app.command(epilog=_STATUS_EPILOG)
def show(
    dataset: Annotated[str, typer.Argument(help="The dataset: a node id, or the end of its name")],
    as_of: AsOf = None,
    *,
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Show the certification of a dataset: each requirement, whether it is met, and what that follows from."""
    from whence.cli.certification.shown import show_one
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_one(questions, dataset, as_of, output))
