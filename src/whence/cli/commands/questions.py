"""Question commands: each parses its arguments, and calls one function of `cli.answers`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.commands.option_groups import ServerOrStore, WalkOptions, with_option_groups
from whence.cli.commands.options import (
    MOST,
    AsOf,
    Depth,
    Kinds,
    MaxEdges,
    MaxNodes,
    Namespaces,
    Node,
    Owners,
    RowsForm,
    Tags,
    Types,
    is_given,
    parse_past_instant,
    period_of,
)
from whence.cli.commands.source import open_question_command
from whence.cli.output.streams import Rows
from whence.model.symptom import Symptom
from whence.query.answers.instants import iso

if TYPE_CHECKING:
    from whence.client.options import Bounds, Narrowing, Walk
    from whence.client.options import Types as FollowedTypes


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    app.command("upstream")(_follow("List the nodes upstream of a dataset, field or job: its sources.", down=False))
    depends = "List the nodes downstream of a dataset, field or job: what breaks if it changes."
    app.command("downstream")(_follow(depends, down=True))
    for command in (impact, path, why, history, changes, diagnose, diff, runs, measurements, checks, search):
        app.command()(command)
    app.command("why-not")(why_not)


def _follow(help_text: str, down: bool) -> Callable[..., None]:
    """Create the command for one direction."""

    @with_option_groups
    def follow(
        context: typer.Context,
        *,
        node: Node,
        walk: WalkOptions,
        max_nodes: MaxNodes = 5_000,
        max_edges: MaxEdges = 50_000,
        answering: ServerOrStore,
        output: RowsForm = Rows.TEXT,
    ) -> None:
        from whence.cli.answers.ask import show_downstream, show_upstream

        followed = _walk(walk, max_nodes, max_edges)
        with open_question_command(context, output) as command:
            raise typer.Exit((show_downstream if down else show_upstream)(command, node, **followed))

    follow.__doc__ = help_text
    return follow


@with_option_groups
def impact(
    context: typer.Context,
    *,
    node: Node,
    walk: WalkOptions,
    max_nodes: MaxNodes = 200_000,
    max_edges: MaxEdges = 2_000_000,
    limit: Annotated[int, typer.Option("--limit", min=0, max=MOST, help="The most nodes to list as text")] = 20,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List what breaks if a node changes: counts by kind, type, owner and tier, and a path to each node."""
    from whence.cli.answers.ask import show_impact

    followed = _walk(walk, max_nodes, max_edges)
    with open_question_command(context, output) as command:
        raise typer.Exit(show_impact(command, node, limit, **followed))


@with_option_groups
def path(
    context: typer.Context,
    *,
    source: Node,
    target: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most paths to list")] = 20,
    max_nodes: MaxNodes = 5_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the paths from one node to another, shortest first."""
    from whence.cli.answers.ask import show_paths

    bounds = _bounds(types, as_of, max_nodes)
    with open_question_command(context, output) as command:
        raise typer.Exit(show_paths(command, source, target, limit=limit, depth=depth, **bounds))


@with_option_groups
def why(
    context: typer.Context,
    *,
    source: Node,
    target: Node,
    types: Types = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most paths to list")] = 5,
    max_nodes: MaxNodes = 5_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Show the evidence that one node depends on another: the events and runs of every edge between them."""
    from whence.cli.answers.changes import show_why

    with open_question_command(context, output) as command:
        raise typer.Exit(show_why(command, source, target, limit, **_bounds(types, as_of, max_nodes)))


@with_option_groups
def why_not(
    context: typer.Context,
    *,
    source: Node,
    target: Node,
    types: Types = None,
    as_of: AsOf = None,
    max_nodes: MaxNodes = 5_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Explain why no path leads from one node to another."""
    from whence.cli.answers.changes import show_why_not

    with open_question_command(context, output) as command:
        raise typer.Exit(show_why_not(command, source, target, **_bounds(types, as_of, max_nodes)))


@with_option_groups
def history(
    context: typer.Context,
    *,
    node: Node,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the changes of a node's lineage and schema, each with its time, and its run or event."""
    from whence.cli.answers.changes import show_history

    with open_question_command(context, output) as command:
        raise typer.Exit(show_history(command, node))


@with_option_groups
def changes(
    context: typer.Context,
    *,
    node: Node,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="After this time: 24h, 7d, 2026-11-20T06:00 (UTC)")
    ] = "24h",
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Not after this time; now if not given")
    ] = None,
    types: Types = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="As it was at this time; --since counts back from it"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 50,
    max_nodes: MaxNodes = 5_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List what changed upstream of a dataset, column or job: schemas, lineage, contracts, checks, runs."""
    from whence.cli.answers.timeline import show_changes

    period = period_of(since, until, as_of)
    bounds = _bounds(types, None if as_of is None else period.until, max_nodes)
    begin, end = iso(period.since), None if period.is_now else iso(period.until)
    with open_question_command(context, output) as command:
        raise typer.Exit(show_changes(command, node, since=begin, until=end, limit=limit, **bounds))


@with_option_groups
def diagnose(
    context: typer.Context,
    *,
    node: Node,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="It began after this time: 24h, 7d, 2026-11-20T06:00 (UTC)")
    ] = "24h",
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Not after this time; now if not given")
    ] = None,
    symptom: Annotated[
        Symptom | None,
        typer.Option("--symptom", help="What is wrong; what deviates most at the node if not given"),
    ] = None,
    types: Types = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="As it was at this time; --since counts back from it"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 5,
    max_nodes: MaxNodes = 5_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the possible causes of what is wrong at a dataset or column: probabilities, evidence, what is not known."""
    from whence.cli.answers.diagnosis import show_diagnosis

    period = period_of(since, until, as_of)
    bounds = _bounds(types, None if as_of is None else period.until, max_nodes)
    begin, end = iso(period.since), None if period.is_now else iso(period.until)
    word = None if symptom is None else symptom.value
    with open_question_command(context, output) as command:
        found = show_diagnosis(command, node, since=begin, until=end, symptom=word, limit=limit, **bounds)
        raise typer.Exit(found)


def _state(text: str) -> str:
    """Parse a state: a run or a URL is unchanged, a time becomes ISO 8601."""
    if text.startswith("run:") or "://" in text:
        return text
    return "now" if text.strip().lower() == "now" else iso(parse_past_instant(text))


@with_option_groups
def diff(
    context: typer.Context,
    *,
    before: Annotated[
        str, typer.Argument(parser=_state, metavar="before", help="A time (1d ago), a run (run:…), or a store's URL")
    ],
    after: Annotated[str, typer.Argument(parser=_state, metavar="after", help="Likewise")] = "now",
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Compare two times, two runs, or two stores: nodes, columns, edges and their transformations."""
    from whence.cli.answers.changes import show_diff
    from whence.client.questions import Client

    if before.startswith("run:") != after.startswith("run:"):
        raise typer.BadParameter("compare two times, two runs or two stores")
    with open_question_command(context, output) as command:
        if "://" in before + after and isinstance(command.questions, Client):
            raise typer.BadParameter("a server compares times and runs; stores are compared with --store")
        raise typer.Exit(show_diff(command, before, after))


@with_option_groups
def runs(
    context: typer.Context,
    *,
    run: Annotated[str, typer.Argument(help="A run id, <id>@<job> if several jobs claim it, or a job: its latest run")],
    down: Annotated[bool, typer.Option("--down", help="Follow the runs that read its outputs")] = False,
    depth: Depth = None,
    max_runs: Annotated[
        int, typer.Option("--max-runs", min=1, max=MOST, help="Stop after this number of runs")
    ] = 1_000,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """List the runs that wrote a run's inputs, and so on, with their jobs and commits."""
    from whence.cli.answers.changes import show_runs

    with open_question_command(context, output) as command:
        raise typer.Exit(show_runs(command, run, down=down, depth=depth, max_runs=max_runs))


@with_option_groups
def search(
    context: typer.Context,
    *,
    text: Annotated[str, typer.Argument(help="Words of names, tags, …; label:pii>=partial", callback=is_given)],
    namespace: Namespaces = None,
    tag: Tags = None,
    owner: Owners = None,
    kind: Kinds = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most names to list")] = 50,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Search datasets, fields and jobs by the words of their names, tags, owners and descriptions, and by labels."""
    from whence.cli.answers.ask import show_found

    with open_question_command(context, output) as command:
        raise typer.Exit(show_found(command, text, limit, **_narrowing(namespace, tag, owner, kind)))


@with_option_groups
def measurements(
    context: typer.Context,
    *,
    node: Node,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="METRIC", help="Only it: rowCount, nullCount, duration")
    ] = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 50,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """The numbers that runs reported of a dataset or a column, or the durations of a job's runs: the newest first."""
    from whence.cli.answers.measurements import show_measurements

    time = None if as_of is None else iso(as_of)
    with open_question_command(context, output) as command:
        raise typer.Exit(show_measurements(command, node, metrics=metric or (), as_of=time, limit=limit))


@with_option_groups
def checks(
    context: typer.Context,
    *,
    node: Node,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="The most to list as text")] = 50,
    answering: ServerOrStore,
    output: RowsForm = Rows.TEXT,
) -> None:
    """The results of the checks of a dataset or a column that runs reported: the newest first."""
    from whence.cli.answers.check_results import show_check_results

    time = None if as_of is None else iso(as_of)
    with open_question_command(context, output) as command:
        raise typer.Exit(show_check_results(command, node, as_of=time, limit=limit))


def _walk(options: WalkOptions, max_nodes: int, max_edges: int) -> "Walk":
    return {
        **_bounds(options.types, options.as_of, max_nodes),
        **_narrowing(options.namespace, options.tag, options.owner, options.kind),
        "depth": options.depth,
        "jobs": options.job or (),
        "within": options.within,
        "max_edges": max_edges,
    }


def _bounds(types: str | None, as_of: int | None, max_nodes: int) -> "Bounds":
    followed: FollowedTypes | None = types  # type: ignore[assignment]  # parsed
    return {"types": followed, "as_of": None if as_of is None else iso(as_of), "max_nodes": max_nodes}


def _narrowing(
    namespaces: list[str] | None, tags: list[str] | None, owners: list[str] | None, kinds: list[str] | None
) -> "Narrowing":
    return {
        "namespaces": namespaces or (),
        "tags": tags or (),
        "owners": owners or (),
        "kinds": kinds or (),
    }
