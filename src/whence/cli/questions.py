"""The commands that ask: each parses, calls one function of `cli.ask` or `cli.changes`, and hands its result on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.options import MOST, Data, RowsForm, Store, parse_past_instant
from whence.cli.output import Rows, reporting
from whence.cli.settings import data_directory, store_url
from whence.query.answers import BOTH, DIRECT, Filter, Question

if TYPE_CHECKING:
    from whence.cli.ask import Asking


def _types(text: str) -> frozenset[str]:
    if text.lower() not in ("direct", "indirect", "both"):
        raise typer.BadParameter("say direct, indirect or both")
    return {"direct": DIRECT, "indirect": BOTH - DIRECT, "both": BOTH}[text.lower()]


def _is_given(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("it is empty")
    return text


Node = Annotated[
    str,
    typer.Argument(help="A node id, or the end of a name: orders.total, gold.daily_revenue", callback=_is_given),
]
Depth = Annotated[int | None, typer.Option("--depth", "-d", min=0, help="Hops; all if not given")]
Types = Annotated[
    frozenset[str] | None,
    typer.Option(
        "--types",
        parser=_types,
        metavar="direct|indirect|both",
        help="Edges to follow; for upstream of a field: direct, else both",
    ),
]
AsOf = Annotated[
    int | None,
    typer.Option(
        "--as-of",
        parser=parse_past_instant,
        metavar="TIME",
        help="As it was then: 2026-11-20T06:00, 2h ago, yesterday (UTC)",
    ),
]
MaxNodes = Annotated[int, typer.Option("--max-nodes", min=1, max=MOST, help="Stop after so many nodes")]
MaxEdges = Annotated[int, typer.Option("--max-edges", min=1, max=MOST, help="Stop after so many edges")]
Namespaces = Annotated[
    list[str] | None, typer.Option("--namespace", metavar="NAME", help="Only nodes in it; may have *; may be repeated")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only nodes with it: pii, pii=high")]
Owners = Annotated[list[str] | None, typer.Option("--owner", metavar="OWNER", help="Only what it owns")]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only dataset, field, job, or what they say they are: view, dashboard"),
]
Jobs = Annotated[list[str] | None, typer.Option("--job", metavar="JOB", help="Only what it reads or writes")]
Within = Annotated[bool, typer.Option("--within", help="Do not pass through nodes that do not fit")]


def add_to(app: typer.Typer) -> None:
    """Make these the application's commands."""
    app.command("upstream")(_follow("Where a dataset, a field or a job comes from.", down=False))
    depends = "What depends on a dataset, a field or a job: what breaks if it changes."
    app.command("downstream")(_follow(depends, down=True))
    for command in (impact, path, why, history, diff, runs, search):
        app.command()(command)
    app.command("why-not")(why_not)


def _follow(says: str, down: bool) -> Callable[..., None]:
    """The command that follows the edges one way."""

    def command(
        node: Node,
        depth: Depth = None,
        types: Types = None,
        as_of: AsOf = None,
        namespace: Namespaces = None,
        tag: Tags = None,
        owner: Owners = None,
        kind: Kinds = None,
        job: Jobs = None,
        within: Within = False,
        max_nodes: MaxNodes = 5_000,
        max_edges: MaxEdges = 50_000,
        data: Data = None,
        store: Store = None,
        output: RowsForm = Rows.TEXT,
    ) -> None:
        from whence.cli.ask import show_downstream, show_upstream

        only = _filter(namespace, tag, owner, kind, job, within)
        question = Question(depth=depth, types=types, at=as_of, only=only, max_nodes=max_nodes, max_edges=max_edges)
        with _asking(data, store, output) as asking:
            raise typer.Exit((show_downstream if down else show_upstream)(asking, node, question))

    command.__doc__ = says
    return command


def impact(
    node: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    namespace: Namespaces = None,
    tag: Tags = None,
    owner: Owners = None,
    kind: Kinds = None,
    job: Jobs = None,
    within: Within = False,
    max_nodes: MaxNodes = 200_000,
    max_edges: MaxEdges = 2_000_000,
    limit: Annotated[int, typer.Option("--limit", min=0, max=MOST, help="List so many nodes as text")] = 20,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """What breaks if a node changes: counted by kind, type, owner and tier, and listed with a path to each."""
    from whence.cli.ask import show_impact

    only = _filter(namespace, tag, owner, kind, job, within)
    question = Question(depth=depth, types=types, at=as_of, only=only, max_nodes=max_nodes, max_edges=max_edges)
    with _asking(data, store, output) as asking:
        raise typer.Exit(show_impact(asking, node, question, limit))


def path(
    source: Node,
    target: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="Show so many paths")] = 20,
    max_nodes: MaxNodes = 5_000,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """How data gets from one node to another: the shortest paths first."""
    from whence.cli.ask import show_paths

    question = Question(depth=depth, types=types, at=as_of, max_nodes=max_nodes)
    with _asking(data, store, output) as asking:
        raise typer.Exit(show_paths(asking, source, target, question, limit))


def why(
    source: Node,
    target: Node,
    types: Types = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="Show so many paths")] = 5,
    max_nodes: MaxNodes = 5_000,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """All that proves that one node depends on another: the events and runs behind every edge between them."""
    from whence.cli.changes import show_why

    question = Question(types=types, at=as_of, max_nodes=max_nodes)
    with _asking(data, store, output) as asking:
        raise typer.Exit(show_why(asking, source, target, question, limit))


def why_not(
    source: Node,
    target: Node,
    types: Types = None,
    as_of: AsOf = None,
    max_nodes: MaxNodes = 5_000,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Why nothing is known to lead from one node to another."""
    from whence.cli.changes import show_why_not

    question = Question(types=types, at=as_of, max_nodes=max_nodes)
    with _asking(data, store, output) as asking:
        raise typer.Exit(show_why_not(asking, source, target, question))


def history(node: Node, data: Data = None, store: Store = None, output: RowsForm = Rows.TEXT) -> None:
    """When the lineage and the schema of a node changed, how, and by which run or event."""
    from whence.cli.changes import show_history

    with _asking(data, store, output) as asking:
        raise typer.Exit(show_history(asking, node))


def diff(
    before: Annotated[str, typer.Argument(help="A time (1d ago), a run (run:…), or another store's URL")],
    after: Annotated[str, typer.Argument(help="Likewise")] = "now",
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """What changed between two times, two runs, or two stores: nodes, columns, edges and what is said of them."""
    from whence.cli.changes import show_diff

    with _asking(data, store, output) as asking:
        raise typer.Exit(show_diff(asking, before, after))


def runs(
    run: Annotated[str, typer.Argument(help="A run id, <id>@<job> if several jobs claim it, or a job: its latest run")],
    down: Annotated[bool, typer.Option("--down", help="The runs that read what it wrote")] = False,
    depth: Depth = None,
    max_runs: Annotated[int, typer.Option("--max-runs", min=1, max=MOST, help="Stop after so many runs")] = 1_000,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Which run of which job, with which commit, wrote what a run read; and so on."""
    from whence.cli.changes import Following, show_runs

    with _asking(data, store, output) as asking:
        raise typer.Exit(show_runs(asking, run, Following(down=down, depth=depth, max_runs=max_runs)))


def search(
    text: Annotated[str, typer.Argument(help="Words of a name, a tag, an owner or a description", callback=_is_given)],
    namespace: Namespaces = None,
    tag: Tags = None,
    owner: Owners = None,
    kind: Kinds = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="Show so many names")] = 50,
    data: Data = None,
    store: Store = None,
    output: RowsForm = Rows.TEXT,
) -> None:
    """Datasets, fields and jobs by the words of their names, and by their tags, owners and descriptions."""
    from whence.cli.ask import show_found

    with _asking(data, store, output) as asking:
        raise typer.Exit(show_found(asking, text, _filter(namespace, tag, owner, kind), limit))


@contextmanager
def _asking(data: Path | None, store: str | None, output: Rows) -> Iterator["Asking"]:
    """Over the store that was named, with errors told in the form that was asked for."""
    from whence.cli.ask import Asking

    with reporting(output.output):
        yield Asking(store_url=store_url(data_directory(data), store), output=output)


def _filter(
    namespaces: list[str] | None,
    tags: list[str] | None,
    owners: list[str] | None,
    kinds: list[str] | None,
    jobs: list[str] | None = None,
    within: bool = False,
) -> Filter:
    """The filter; its jobs as they were typed."""
    return Filter(
        namespaces=tuple(namespaces or ()),
        tags=tuple(tags or ()),
        owners=tuple(owners or ()),
        kinds=tuple(kinds or ()),
        jobs=tuple(jobs or ()),
        within=within,
    )
