"""Commands about sensitive data: its tags, what is in a column, and where the data of a person is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.acts import tags as acts_on_tags
from whence.cli.commands.options import (
    MOST,
    AsOf,
    Data,
    Grades,
    MaxNodes,
    Node,
    Profile,
    RowsForm,
    ServerUrl,
    Store,
    Url,
)
from whence.cli.commands.source import open_question_command
from whence.cli.output.streams import Output, Rows, reporting
from whence.query.answers.instants import iso

if TYPE_CHECKING:
    from whence.client.values.sensitivity import SensitivityOptions, SubjectOptions


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for command in (sensitivity, subject):
        app.command()(command)
    acts_on_tags.add_to(tags)
    app.add_typer(tags)


tags = typer.Typer(
    name="tags", help="Tags of datasets, columns and jobs, such as pii or masking=mail.", no_args_is_help=True
)
Tags = Annotated[list[str], typer.Argument(metavar="TAG…", help="pii, or with a value: masking=mail")]


@tags.command("add")
def add_tags(node: Node, several: Tags, *, url: Url) -> None:
    """Tag a dataset, column or job on a server. Needs a steward of its namespace."""
    from whence.cli.sending.tags import tag_node

    with reporting(Output.TEXT):
        tag_node(url, node, several)


@tags.command("remove")
def remove_tags(node: Node, several: Tags, *, url: Url) -> None:
    """Remove tags that people or jobs gave, on a server. Needs a steward of its namespace."""
    from whence.cli.sending.tags import untag_node

    with reporting(Output.TEXT):
        untag_node(url, node, several)


def sensitivity(
    context: typer.Context,
    node: Node,
    down: Annotated[bool, typer.Option("--down", help="Where its data goes, instead of what is in it")] = False,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="This tag marks sensitive columns: pii, class=secret"),
    ] = None,
    at_least: Annotated[Grades, typer.Option("--at-least", help="The lowest grade to list")] = Grades.PARTIAL,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 50,
    max_nodes: MaxNodes = 5_000,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the sensitive data in a dataset or column, how much of it is shown, and the way that it came."""
    from whence.cli.answers.sensitive_data.sensitivity import show_sensitivity

    time = None if as_of is None else iso(as_of)
    options: SensitivityOptions = {"down": down, "tags": tag or (), "at_least": at_least.value}
    options |= {"as_of": time, "max_nodes": max_nodes}
    with open_question_command(context, output) as command:
        raise typer.Exit(show_sensitivity(command, node, limit, **options))


def subject(
    context: typer.Context,
    node: Annotated[
        str | None,
        typer.Argument(
            help="A dataset or column with the data, such as crm.customers; all that --tag marks, if not given"
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="This tag marks the data: pii, class=secret"),
    ] = None,
    at_least: Annotated[Grades, typer.Option("--at-least", help="The lowest grade to list")] = Grades.PARTIAL,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most datasets to list as text")] = 50,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write all as a report in Markdown, too")
    ] = None,
    max_nodes: MaxNodes = 5_000,
    url: ServerUrl = None,
    profile: Profile = None,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List where the data of a person is: who owns and reads it, how long it is kept, and when to erase it."""
    from whence.cli.answers.sensitive_data.data_subject import show_subject

    time = None if as_of is None else iso(as_of)
    options: SubjectOptions = {"tags": tag or (), "at_least": at_least.value, "as_of": time, "max_nodes": max_nodes}
    with open_question_command(context, output) as command:
        raise typer.Exit(show_subject(command, node, limit, report, **options))
