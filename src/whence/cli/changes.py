"""What the commands do that ask about proof and about the past: why, why not, history, diff, runs."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import typer
from rich.text import Text

from whence.cli.ask import Asking, show
from whence.cli.impact import closing_line
from whence.cli.labels import age
from whence.cli.listing import path_lines
from whence.cli.output import Exit, safe
from whence.cli.tree import Style
from whence.errors import NodeNotFoundError
from whence.model.graph import Direction, Evidence, RunRow
from whence.model.ids import node_id
from whence.model.names import JobName
from whence.query import listings
from whence.query.answers import Paths, Question
from whence.query.changes import EdgeChange
from whence.query.diff import Diff, Side, diff
from whence.query.history import History, LineageVersion, SchemaVersion, history
from whence.query.instants import iso, past_instant
from whence.query.reports import versions_of
from whence.query.resolve import resolve
from whence.query.runs import AnswerRun, RunLineage, resolve_run, run_lineage
from whence.query.transformations import Transformation
from whence.query.why import WhyNot, why, why_not
from whence.store.catalog import StoreCatalog
from whence.store.graph import StoreGraph, open_graph

SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How far, and which way, runs are followed."""

    down: bool
    depth: int | None
    max_runs: int


def show_why(asking: Asking, source: str, target: str, question: Question, limit: int) -> Exit:
    """All that proves the paths between two nodes."""
    with open_graph(asking.store_url) as graph:
        found = why(graph, resolve(graph, source), resolve(graph, target), question, limit)
    return show(asking, listings.paths_listing(found), lambda style: _why_lines(found, style))


def show_why_not(asking: Asking, source: str, target: str, question: Question) -> Exit:
    """Why nothing leads from one node to another."""
    with open_graph(asking.store_url) as graph:
        found = why_not(graph, source, target, question)
    return show(asking, listings.why_not_answer(found), lambda style: _why_not_lines(found))


def show_history(asking: Asking, node: str) -> Exit:
    """When a node changed."""
    with open_graph(asking.store_url) as graph:
        found = history(graph, resolve(graph, node))
    return show(asking, listings.history_listing(found), lambda style: _history_lines(found, style))


def show_diff(asking: Asking, before: str, after: str) -> Exit:
    """What changed between two times or runs of one store, or between two stores."""
    with ExitStack() as stack:
        graph = stack.enter_context(open_graph(asking.store_url))
        sides = [_side(stack, graph, text) for text in (before, after)]
        if (sides[0].run is None) != (sides[1].run is None):
            raise typer.BadParameter("compare two times, two runs or two stores")
        found = diff(*sides)
    return show(asking, listings.diff_listing(found), lambda _: _diff_lines(found))


def show_runs(asking: Asking, run: str, following: Following) -> Exit:
    """The runs behind a run, or after it."""
    direction = Direction.DOWNSTREAM if following.down else Direction.UPSTREAM
    with open_graph(asking.store_url) as graph:
        found = run_lineage(graph, _run_named(graph, run), direction, following.depth, following.max_runs)
    return show(asking, listings.runs_listing(found), lambda style: _run_lines(found, style))


def _run_named(graph: StoreGraph, typed: str) -> RunRow:
    """The run with this id, else the latest run of this job. Raises NodeNotFoundError, AmbiguousNodeError."""
    try:
        return resolve_run(graph, typed)
    except NodeNotFoundError:
        job = resolve(graph, typed)
        latest = StoreCatalog(graph.connection).latest_runs([node_id(job)], 1) if isinstance(job, JobName) else {}
        for entries in latest.values():
            return graph.runs([entries[0].id])[0]
        raise


def _side(stack: ExitStack, graph: StoreGraph, text: str) -> Side:
    if text.startswith("run:"):
        return Side(graph, run=resolve_run(graph, text))
    if "://" in text:
        return Side(stack.enter_context(open_graph(text)))
    try:
        return Side(graph, None if text == "now" else past_instant(text, time.time_ns() // 1_000))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _why_lines(found: Paths, style: Style) -> Iterator[Text]:
    yield from path_lines(found, style)
    edges = dict.fromkeys(edge for path in found.paths for step in path.steps for edge in step.edges)
    for edge in edges:
        yield Text(f"{safe(str(edge.source))} {style.glyphs.right} {safe(str(edge.target))}", style="bold")
        for one in edge.evidence:
            yield from _evidence_lines(one, style)


def _evidence_lines(one: Evidence, style: Style) -> Iterator[Text]:
    by = safe(one.last.producer) or "a forgotten event"
    said = "parsed from SQL" + f" by {safe(one.reader)}" * bool(one.reader) if one.origin == "parsed" else one.origin
    yield Text(f"  {said}: first said {iso(one.first.time)}, last {iso(one.last.time)}, by {by}")
    for run in one.runs:
        when = age(max(style.now - run.said_at, 0))
        yield Text(f"    {safe(str(run.name))} {safe(str(run.name.job))} {run.state.name}, {when}", style="dim")


def _why_not_lines(found: WhyNot) -> Iterator[Text]:
    yield Text(f"{safe(found.source)}  ...  {safe(found.target)}", style="bold")
    if found.reason is None:
        yield Text.assemble(("Connected: ", "bold green"), safe(found.detail))
        return
    until = "" if found.until is None else f" (until {iso(found.until)})"
    yield Text.assemble((f"{found.reason}: ", "bold yellow"), safe(found.detail) + until)
    for name in found.nearest:
        yield Text(f"  {safe(name)}")


def _history_lines(found: History, style: Style) -> Iterator[Text]:
    yield Text.assemble((safe(str(found.node)), "bold"), ("  history", "dim"))
    for one in versions_of(found):
        yield _version_line(one)
        yield from _version_changes(one)
    if not found.lineage and not found.schemas:
        yield Text("Nothing was ever said of it.", style="yellow")
    yield closing_line(found.extent)


def _version_line(one: LineageVersion | SchemaVersion) -> Text:
    match one:
        case LineageVersion():
            until = "now" if one.valid_to is None else iso(one.valid_to)
            by = str(one.run.name) if one.run else f"event {one.event.key}" if one.event else "a forgotten event"
            head = f"{iso(one.valid_from)} to {until}  {safe(str(one.owner))} {one.aspect}"
            doubt = "" if one.confirmed else ", not confirmed"
            return Text.assemble((head, "bold"), (f"  by {safe(by)}{doubt}", "dim"))
        case SchemaVersion():
            head = f"{iso(one.first_seen)} to {iso(one.last_seen)}  schema of {safe(str(one.dataset))}"
            return Text.assemble((head, "bold"), (f"  {one.columns} columns", "dim"))


def _version_changes(one: LineageVersion | SchemaVersion) -> Iterator[Text]:
    match one:
        case LineageVersion():
            for word, several in _by_word(one.changes.added, one.changes.removed, one.changes.changed):
                yield from (_edge_line(word, change) for change in several)
        case SchemaVersion():
            for change in one.changes:
                word = "added" if change.before is None else "removed" if change.after is None else "changed"
                types = " to ".join(safe(type_) for type_ in (change.before, change.after) if type_)
                yield _line(word, f"{safe(change.name)}  {types}".rstrip())


def _diff_lines(found: Diff) -> Iterator[Text]:
    for node in found.added:
        yield _line("added", safe(str(node)))
    for node in found.removed:
        yield _line("removed", safe(str(node)))
    for one in found.retyped:
        yield _line("changed", f"{safe(str(one.field))}  {safe(one.before)} to {safe(one.after)}")
    for word, several in _by_word(found.edges.added, found.edges.removed, found.edges.changed):
        yield from (_edge_line(word, change) for change in several)
    if found.is_empty:
        yield Text("Nothing changed.", style="bold green")


def _by_word(
    added: Iterable[EdgeChange], removed: Iterable[EdgeChange], changed: Iterable[EdgeChange]
) -> tuple[tuple[str, Iterable[EdgeChange]], ...]:
    return (("added", added), ("removed", removed), ("changed", changed))


def _edge_line(word: str, one: EdgeChange) -> Text:
    said = " to ".join(filter(None, [_said(one.before), _said(one.after)]))
    return _line(word, f"{safe(str(one.source))} -> {safe(str(one.target))}  {said}  ({safe(str(one.owner))})")


def _said(several: tuple[Transformation, ...]) -> str:
    return "; ".join(safe(" ".join(filter(None, [one.type, one.subtype, one.description]))) for one in several)


def _line(word: str, text: str) -> Text:
    sign, colour = SIGNS[word]
    return Text.assemble((f"  {sign} ", colour), text)


def _run_lines(found: RunLineage, style: Style) -> Iterator[Text]:
    for run in found.runs:
        yield _run_line(run, style)
        pairs = [
            one for one in found.handovers if run.name == (one.writer if found.direction == "upstream" else one.reader)
        ]
        for one in pairs:
            other = one.reader if found.direction == "upstream" else one.writer
            verb = "wrote" if found.direction == "upstream" else "read"
            yield Text(
                f"      {verb} {safe(str(one.dataset))} {'for' if verb == 'wrote' else 'of'} {other}", style="dim"
            )
    for name in found.origins:
        yield Text(f"   ?  {safe(str(name))}: no known run wrote it before", style="yellow")
    yield closing_line(found.extent)


def _run_line(run: AnswerRun, style: Style) -> Text:
    commit = "" if run.commit is None else f"  at {safe(run.commit.version or run.commit.url)}"
    when = "" if run.began is None else f", {age(max(style.now - run.began, 0))}"
    line = Text(f"{run.depth:>4}  ", style="dim").append(safe(str(run.name.job)), style="bold")
    return line.append(f"  {run.name} {run.state.name}{when}", style="dim").append(commit, style="cyan")
