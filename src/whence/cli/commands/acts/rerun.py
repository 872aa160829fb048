"""`whence rerun`: what to run again after a fix."""

from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.options import (
    Data,
    Form,
    MaxEdges,
    MaxNodes,
    Node,
    Profile,
    RowsForm,
    ServerUrl,
    Store,
    Url,
    choice_option,
    parse_past_instant,
)
from whence.cli.commands.source import open_question_command
from whence.cli.containment.forms import RerunForm
from whence.cli.output.streams import Output, Rows, reporting
from whence.query.answers.instants import iso

if TYPE_CHECKING:
    from whence.client.options import Rerun

app = typer.Typer(name="rerun", help="What to run again after a fix.", no_args_is_help=True)


@app.command()
def plan(
    context: typer.Context,
    node: Node,
    to: Annotated[
        list[str] | None, typer.Option("--to", metavar="NODE", help="What is wanted again; all if not given")
    ] = None,
    since: Annotated[
        int | None,
        typer.Option(
            "--since",
            parser=parse_past_instant,
            metavar="TIME",
            help="When it broke: what did not run since is left out",
        ),
    ] = None,
    form: Annotated[
        RerunForm,
        choice_option(RerunForm, "--for", help="What to write: layers, requests of Airflow, arguments of dbt"),
    ] = RerunForm.LAYERS,
    max_nodes: MaxNodes = 200_000,
    max_edges: MaxEdges = 2_000_000,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Plan what to run again after a fix, in layers: the jobs between a node and what is wanted again."""
    from whence.cli.containment.rerun import show_rerun

    time = None if since is None else iso(since)
    with open_question_command(context, output) as command:
        wanted: Rerun = {"targets": to or (), "since": time, "max_nodes": max_nodes, "max_edges": max_edges}
        raise typer.Exit(show_rerun(command, node, form, **wanted))


@app.command()
def rollback(
    node: Node,
    since: Annotated[
        int, typer.Option("--since", parser=parse_past_instant, metavar="TIME", help="When it broke: 2h ago")
    ],
    url: Url,
    output: Form = Output.TEXT,
) -> None:
    """Find the newest run before data broke that completed, whose checks held, and that read only such data."""
    from whence.cli.containment.rollback import show_rollback
    from whence.client.questions import connect

    with reporting(output), connect(url) as questions:
        raise typer.Exit(show_rollback(questions, node, iso(since), output))
