"""`whence lineage`: accepted lineage, and what differs from it, of a store or of a server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec
from rich.text import Text

from whence.cli.answers.tree import number
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.lineage_baselines import LineageBaseline, LineageBaselineRow, LineageBaselines, LineageChange
from whence.client.questions import connect
from whence.errors import NodeNotFoundError
from whence.govern.lineage_baselines.current import compare_baselines, compare_one
from whence.govern.lineage_baselines.documents import baseline_document, baselines_document
from whence.govern.rule_states.records import certifications_at
from whence.model.access import OPEN
from whence.model.names import DatasetName
from whence.query.answers.instants import instant, iso
from whence.query.lookup.resolve import resolve
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph, open_graph

_COLOURS = {"ok": "green", "drifted": "red"}
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


class BaselineQuestions(Protocol):
    """The questions about baselines: to a store, or to a server (`client.questions.Client`)."""

    def lineage_baseline(self, dataset: str, *, as_of: str | None = None) -> LineageBaseline:
        """The baseline of a dataset at a time."""
        ...

    def lineage_baselines(self, *, as_of: str | None = None) -> LineageBaselines:
        """All baselines at a time."""
        ...


class StoreBaselines:
    """The lineage baselines of a store."""

    def __init__(self, graph: StoreGraph) -> None:
        self._graph, self._catalog = graph, StoreCatalog(graph.connection)

    def lineage_baseline(self, dataset: str, *, as_of: str | None = None) -> LineageBaseline:
        """The baseline of a dataset at a time. Raises NodeNotFoundError, AmbiguousNodeError."""
        name = resolve(self._graph, dataset)
        if not isinstance(name, DatasetName):
            raise NodeNotFoundError(f"dataset {dataset}", (str(name),))
        now, at, until = _times(as_of)
        found = compare_one(self._catalog, self._graph, name, now, at)
        document = baseline_document(name, found, certifications_at(self._catalog, until), until, OPEN)
        return msgspec.convert(document, LineageBaseline)

    def lineage_baselines(self, *, as_of: str | None = None) -> LineageBaselines:
        """All baselines at a time."""
        now, at, until = _times(as_of)
        compared = list(compare_baselines(self._catalog, self._graph, now, at))
        document = baselines_document(compared, certifications_at(self._catalog, until), until, OPEN)
        return msgspec.convert(document, LineageBaselines)


def _times(as_of: str | None) -> tuple[int, int | None, int]:
    now = time.time_ns() // 1_000
    at = None if as_of is None else instant(as_of, now)
    return now, at, now if at is None else at


@contextmanager
def open_baselines(url: str) -> Iterator[StoreBaselines]:
    """Open the store at a URL. Raises StoreError."""
    with open_graph(url) as graph:
        yield StoreBaselines(graph)


def show_baseline(questions: BaselineQuestions, dataset: str, as_of: int | None, output: Output) -> Exit:
    """Print the baseline of a dataset, and what differs."""
    found = questions.lineage_baseline(dataset, as_of=None if as_of is None else iso(as_of))
    _print(found, output)
    return {"ok": Exit.OK, "drifted": Exit.BLOCKED}.get(found.state, Exit.UNKNOWN)


def show_baselines(questions: BaselineQuestions, as_of: int | None, output: Output) -> Exit:
    """Print all baselines, and the certified datasets that have none."""
    found = questions.lineage_baselines(as_of=None if as_of is None else iso(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
        return Exit.OK
    print_lines([line for one in found.baselines for line in _row_lines(one)])
    print_lines(Text(f"certified, without a baseline: {safe(name)}", style="yellow") for name in found.without)
    if not found.baselines and not found.without:
        print_lines([Text("No baseline; accept one: whence lineage accept DATASET --reason …")])
    return Exit.OK


def accept(dataset: str, reason: str, url: str, output: Output, *, end: bool = False) -> Exit:
    """Accept the lineage of a dataset in the name of the key, or end its baseline, and print what holds then."""
    with connect(url) as questions:
        found = questions.accept_lineage(dataset, reason, end=end)
    _print(found, output)
    return Exit.OK


def _print(found: LineageBaseline, output: Output) -> None:
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found))


def _row_lines(one: LineageBaselineRow) -> Iterator[Text]:
    certified = f", {one.certification}" if one.certification else ""
    yield Text.assemble((one.state, f"bold {_COLOURS.get(one.state, 'yellow')}"), f"  {safe(one.node)}{certified}")
    if one.accepted_at:
        by = f" by {safe(one.accepted_by)}" if one.accepted_by else ""
        differing = f", {one.differing:,} differ" if one.differing else ""
        yield Text(f"  {number(one.edges, 'edge')} accepted {one.accepted_at}{by}{differing}", style="dim")


def _lines(found: LineageBaseline) -> Iterator[Text]:
    yield from _row_lines(found)
    if found.reason:
        yield Text(f"  {safe(found.reason)}")
    for one in found.changes:
        yield Text(f"  {_SIGNS.get(one.change, '?')} {_edge(one)}")
        if one.change == "changed":
            yield Text(f"      {safe('; '.join(one.before)) or '?'}  →  {safe('; '.join(one.after)) or '?'}")
    for count, text in (
        (found.more, "more differ"),
        (found.hidden, "differ at what this key may not see"),
        (found.forgotten, "were removed, and the store does not know them any more"),
    ):
        if count:
            yield Text(f"  {count:,} {text}", style="yellow")


def _edge(one: LineageChange) -> str:
    if one.source is None:
        return f"{safe(one.target)}: a job does not report its sources"
    return f"{safe(one.source)} → {safe(one.target)}"
