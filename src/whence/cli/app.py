"""The command line: each command parses, calls one function, and hands its result on.

Exit codes: 0 answered · 1 a mistake (no such node, an ambiguous name) · 2 wrong usage · 3 answered, but a budget cut
the answer · 4 the store, the log or the API cannot serve.
"""

import io
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from whence.cli import publishing, upkeep
from whence.cli.options import Archive, Data, EventLog, Form, Store, Url
from whence.cli.output import Output, reporting
from whence.cli.settings import archive_uri, data_directory, log_url, store_url
from whence.query.answers import BOTH, DIRECT, Question
from whence.query.instants import instant

_EPILOG = (
    "Exit codes: 0 answered; 1 a mistake, such as no such node or an ambiguous name; 2 wrong usage; "
    "3 answered, but a budget cut the answer; 4 the store, the log or the API cannot serve."
)

app = typer.Typer(
    name="whence",
    help="Where any number came from, and what breaks if it changes.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)


def _instant(text: str) -> int:
    try:
        return instant(text, time.time_ns() // 1_000)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _types(text: str) -> frozenset[str]:
    if text.lower() not in ("direct", "indirect", "both"):
        raise typer.BadParameter("say direct, indirect or both")
    return {"direct": DIRECT, "indirect": BOTH - DIRECT, "both": BOTH}[text.lower()]


Node = Annotated[str, typer.Argument(help="A node id, or the end of a name: orders.total, gold.daily_revenue")]
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
        "--as-of", parser=_instant, metavar="TIME", help="As it was then: 2026-11-20T06:00, 2h ago, yesterday (UTC)"
    ),
]
MaxNodes = Annotated[int, typer.Option("--max-nodes", min=1, help="Stop after so many nodes")]
MaxEdges = Annotated[int, typer.Option("--max-edges", min=1, help="Stop after so many edges")]
DemoData = Annotated[
    Path | None, typer.Option("--data", help="Keep all its data here; in a temporary directory if not given")
]
Host = Annotated[str, typer.Option("--host", help="The address to listen at")]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port to listen at")]


@app.command()
def upstream(
    node: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    max_nodes: MaxNodes = 5_000,
    max_edges: MaxEdges = 50_000,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Where a dataset, a field or a job comes from."""
    from whence.cli.ask import Asking, show_upstream

    question = Question(depth=depth, types=types, at=as_of, max_nodes=max_nodes, max_edges=max_edges)
    with reporting(output):
        raise typer.Exit(
            show_upstream(Asking(store_url=store_url(data_directory(data), store), output=output), node, question)
        )


@app.command()
def downstream(
    node: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    max_nodes: MaxNodes = 5_000,
    max_edges: MaxEdges = 50_000,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """What depends on a dataset, a field or a job: what breaks if it changes."""
    from whence.cli.ask import Asking, show_downstream

    question = Question(depth=depth, types=types, at=as_of, max_nodes=max_nodes, max_edges=max_edges)
    with reporting(output):
        raise typer.Exit(
            show_downstream(Asking(store_url=store_url(data_directory(data), store), output=output), node, question)
        )


@app.command()
def path(
    source: Node,
    target: Node,
    depth: Depth = None,
    types: Types = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show so many paths")] = 20,
    max_nodes: MaxNodes = 5_000,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """How data gets from one node to another: the shortest paths first."""
    from whence.cli.ask import Asking, show_paths

    question = Question(depth=depth, types=types, at=as_of, max_nodes=max_nodes)
    asking = Asking(store_url=store_url(data_directory(data), store), output=output)
    with reporting(output):
        raise typer.Exit(show_paths(asking, source, target, question, limit))


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="A part of a name")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show so many names")] = 50,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """Datasets, fields and jobs whose name contains a text."""
    from whence.cli.ask import Asking, show_found

    with reporting(output):
        raise typer.Exit(
            show_found(Asking(store_url=store_url(data_directory(data), store), output=output), text, limit)
        )


@app.command()
def up(
    data: Data = None, store: Store = None, log: EventLog = None, host: Host = "127.0.0.1", port: Port = 8080
) -> None:
    """Start everything: collector, pipeline and API, until Ctrl-C."""
    from whence.cli import serve

    directory = data_directory(data)
    with reporting(Output.TEXT):
        where = log_url(directory, log)
        serve.up(serve.plan(directory, store_url(directory, store), log=where, host=host, port=port))


@app.command()
def demo(
    data: DemoData = None,
    once: Annotated[bool, typer.Option("--once", help="Stop after the answers")] = False,
    port: Port = 8080,
) -> None:
    """Trace a real PySpark pipeline, from a prediction back to its raw columns."""
    from whence.cli import demo as tour

    with reporting(Output.TEXT):
        raise typer.Exit(tour.demo(data, once=once, port=port))


@app.command()
def ingest(
    files: Annotated[list[Path], typer.Argument(exists=True, help="Events: JSON, JSON lines, gzip; or directories")],
    url: Url = "http://127.0.0.1:8080",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what the specification does not allow")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Send events from files to a collector."""
    from whence.cli.reports import show_ingested
    from whence.cli.serve import ingest as send

    with reporting(output):
        raise typer.Exit(show_ingested(send(files, url, strict=strict), output))


@app.command()
def doctor(url: Url = "http://127.0.0.1:8080", output: Form = Output.TEXT) -> None:
    """Send a probe event, and show where it landed and how long that took."""
    from whence.cli.reports import show_diagnosis
    from whence.cli.serve import doctor as probe

    with reporting(output):
        raise typer.Exit(show_diagnosis(probe(url), output))


@app.command()
def rebuild(
    as_of: Annotated[
        int | None,
        typer.Option(
            "--as-of", parser=_instant, metavar="TIME", help="Only what was received before then; needs --into"
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option("--into", help="Build in this data directory or store URL, and leave the live store as it is"),
    ] = None,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
) -> None:
    """Derive the store anew from archive and log, and put it in the place of the old one."""
    from whence.cli.archive import Archiving, build_again

    if as_of is not None and into is None:
        raise typer.BadParameter("--as-of needs --into: the live store is not replaced by the past")
    directory = data_directory(data)
    what = Archiving(log=log_url(directory, log), archive=archive_uri(directory, archive))
    with reporting(Output.TEXT):
        build_again(what, store_url(directory, store), into, as_of)


@app.command()
def archive(
    drop_segments: Annotated[
        bool, typer.Option("--drop-segments", help="Then delete the log's segments that are archived and in the store")
    ] = False,
    data: Data = None,
    store: Store = None,
    log: EventLog = None,
    archive: Archive = None,
    output: Form = Output.TEXT,
) -> None:
    """Copy what the log has received into the archive, a Delta table."""
    from whence.cli.archive import Archiving, show_archived

    directory = data_directory(data)
    what = Archiving(log=log_url(directory, log), archive=archive_uri(directory, archive))
    with reporting(output):
        raise typer.Exit(show_archived(what, store_url(directory, store) if drop_segments else None, output))


@app.command()
def blast(data: Data = None, store: Store = None) -> None:
    """Count now what is downstream of every node; `whence up` does so by itself."""
    from whence.cli.blast import count_now

    with reporting(Output.TEXT):
        done = count_now(store_url(data_directory(data), store))
        typer.echo(f"{done.rows:,} nodes counted" if done.changed else "the graph is the one that was counted last")


@app.command()
def dump(data: Data = None, store: Store = None) -> None:
    """The canonical state as sorted JSON lines: equal for equal sets of events."""
    from whence.cli.state import dump_state

    with reporting(Output.TEXT):
        dump_state(store_url(data_directory(data), store))


@app.command()
def ledger(
    receipt: Annotated[str | None, typer.Argument(help="An event's key, or a position in the log (1:16)")] = None,
    data: Data = None,
    store: Store = None,
    output: Form = Output.TEXT,
) -> None:
    """What became of every record received: applied, duplicate, or quarantined and why."""
    from whence.cli.ledger import show_ledger

    with reporting(output):
        raise typer.Exit(show_ledger(store_url(data_directory(data), store), receipt, output))


upkeep.add_to(app)
publishing.add_to(app)


@app.command()
def version() -> None:
    """The version of Whence."""
    from whence import __version__

    typer.echo(__version__)


def main() -> None:
    """The `whence` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may have letters that the terminal has not
    app()
