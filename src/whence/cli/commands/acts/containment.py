"""`whence contain`: stop broken data from going further, and undo that."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.options import Data, Form, MaxEdges, MaxNodes, Node, Profile, RowsForm, ServerUrl, Store
from whence.cli.commands.source import open_question_command
from whence.cli.output.streams import Output, Rows, reporting

if TYPE_CHECKING:
    from whence.cli.containment.step_log import ServerSteps

app = typer.Typer(
    name="contain",
    help="Stop broken data from going further: pause what depends on it, and undo that.",
    no_args_is_help=True,
)


@app.command()
def plan(
    context: typer.Context,
    node: Node,
    save: Annotated[
        Path | None, typer.Option("--save", dir_okay=False, help="Write the plan into this file, for `apply`")
    ] = None,
    orchestrators: Annotated[
        Path | None,
        typer.Option(
            "--orchestrators", exists=True, dir_okay=False, help="What starts jobs that do not report it: a file"
        ),
    ] = None,
    max_nodes: MaxNodes = 200_000,
    max_edges: MaxEdges = 2_000_000,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Plan what to pause so that a broken column or dataset goes no further, the nearest first. Nothing is paused."""
    from whence.cli.containment.plan import show_plan

    with open_question_command(context, output) as command:
        raise typer.Exit(show_plan(command, node, (save, orchestrators), max_nodes=max_nodes, max_edges=max_edges))


_APPLY_EPILOG = (
    "Exit codes: 0 all done; 1 something failed, or the key lacks the role; 2 wrong usage, or a mistake in the file; "
    "4 the server is unavailable."
)
Airflows = Annotated[
    list[str] | None,
    typer.Option("--airflow", metavar="URL", help="Pause at this Airflow, with its user in WHENCE_AIRFLOW_USER"),
]
OrchestratorsFile = Annotated[
    Path | None,
    typer.Option("--orchestrators", exists=True, dir_okay=False, help="Orchestrators: orchestrators.yaml"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only read the states, and print what would be done")]
Incident = Annotated[str, typer.Argument(help="The incident that it was paused for")]


@app.command(epilog=_APPLY_EPILOG)
def apply(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A plan that `plan --save` wrote")],
    incident: Annotated[str, typer.Option("--incident", help="What it is for; without it, this is a dry run")] = "",
    airflow: Airflows = None,
    orchestrators: OrchestratorsFile = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="ID", help="Only these; * for any text; may be repeated")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Refuse a plan with more targets")] = 50,
    dry_run: DryRun = False,
    url: ServerUrl = None,
    profile: Profile = None,
    output: Form = Output.TEXT,
) -> None:
    """Pause what a plan has, for an incident. The server records each step, if the key is a steward's there."""
    from whence.cli.containment.acts import Orchestrators, show_applied

    where = Orchestrators(airflows=airflow or (), file=orchestrators, allow=allow or (), most=most)
    with reporting(output), _steps(url, profile) as log:
        raise typer.Exit(show_applied(log, file, incident, where, output, dry_run=dry_run or not incident))


@app.command(epilog=_APPLY_EPILOG)
def undo(
    incident: Incident,
    airflow: Airflows = None,
    orchestrators: OrchestratorsFile = None,
    dry_run: DryRun = False,
    url: ServerUrl = None,
    profile: Profile = None,
    output: Form = Output.TEXT,
) -> None:
    """Resume exactly what was paused for an incident, but not what another incident needs paused."""
    from whence.cli.containment.acts import Orchestrators, show_undone

    where = Orchestrators(airflows=airflow or (), file=orchestrators)
    with reporting(output), _steps(url, profile) as log:
        raise typer.Exit(show_undone(log, incident, where, output, dry_run=dry_run))


@app.command()
def status(
    incident: Annotated[str, typer.Argument(help="Only this incident")] = "",
    url: ServerUrl = None,
    profile: Profile = None,
    output: Form = Output.TEXT,
) -> None:
    """List what was contained: each step, when, by whom and for which incident."""
    from whence.cli.containment.acts import show_status

    with reporting(output), _steps(url, profile) as log:
        raise typer.Exit(show_status(log, incident, output))


@contextmanager
def _steps(url: str | None, profile: str | None) -> Iterator["ServerSteps"]:
    from whence.cli.containment.step_log import open_steps

    log = open_steps(url, profile)
    try:
        yield log
    finally:
        log.close()
