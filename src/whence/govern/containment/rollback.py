"""The newest run before data broke whose output can be trusted: where to roll back to.

A run can be trusted if it completed, no check of what it wrote failed until the next write, and each of its inputs was
written by a run that can be trusted, as far as runs are known. So the walk repeats upstream.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from whence.model.catalog import RunEntry, Window, Write
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, RunName
from whence.openlineage.facets.assertions import WARN
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness
from whence.query.ports.catalog import Catalog
from whence.query.questions.check_results import results_of
from whence.query.questions.measurements import Measured

MOST_WRITES = 50
"""Writes of a dataset that are looked at, the latest before the time."""
MOST_DEPTH = 20
"""Runs in a row upstream of a write."""


class RollbackGraph(Measured, Protocol):
    """A graph with checks and alias groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedRun:
    """A run that can be trusted, and what it wrote. `reads`: the runs that wrote its inputs; `origins`: its inputs that
    no known run wrote.
    """

    run: RunName
    dataset: DatasetName
    written_at: int
    reads: tuple["TrustedRun", ...] = ()
    origins: tuple[DatasetName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRun:
    """A newer run that cannot be trusted, and why."""

    run: RunName
    written_at: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPoint:
    """Where to roll a dataset back to: `point`, None if no known run can be trusted. `rejected`: newer runs, the latest
    first. `checked`: whether the results of checks could be read. `hidden`: how many inputs the viewer may not see, of
    which nothing is known.
    """

    dataset: DatasetName
    since: int
    point: TrustedRun | None
    rejected: tuple[RejectedRun, ...]
    checked: bool
    hidden: int
    completeness: Completeness


@dataclass(slots=True)
class _Walk:
    graph: RollbackGraph
    catalog: Catalog
    checked: bool = True
    hidden: set[int] = field(default_factory=set)
    _writes: dict[DatasetName, Sequence[Write]] = field(default_factory=dict)
    _failures: dict[DatasetName, Sequence[tuple[int, str, RunName | None]]] = field(default_factory=dict)
    _known: dict[tuple[int, DatasetName], TrustedRun | str] = field(default_factory=dict)

    def judge(self, write: Write, dataset: DatasetName, above: frozenset[int]) -> TrustedRun | str:
        """The run of a write, if it can be trusted; else why not."""
        key = write.run.id, dataset
        if key not in self._known:
            self._known[key] = self._judge(write, dataset, above)
        return self._known[key]

    def _judge(self, write: Write, dataset: DatasetName, above: frozenset[int]) -> TrustedRun | str:
        run = write.run
        if run.state is not RunState.COMPLETE:
            return f"it ended as {run.state.name}" if run.state.rank == RunState.COMPLETE else "it did not end"
        if failed := self._failed_check(write, dataset):
            return f"the check {failed!r} of {dataset.name} failed"
        if len(above) >= MOST_DEPTH:
            return f"more than {MOST_DEPTH} runs upstream of it were not looked at"
        reads: list[TrustedRun] = []
        origins: list[DatasetName] = []
        for source in self._inputs(run):
            found = self._last_write(source, _began(run), above | {run.id})
            if found is None:
                origins.append(source)
                continue
            judged = self.judge(found, source, above | {run.id})
            if isinstance(judged, str):
                return f"it read {source.name} of run {found.run.name.run_id}: {judged}"
            reads.append(judged)
        return TrustedRun(
            run=run.name, dataset=dataset, written_at=write.time, reads=tuple(reads), origins=tuple(origins)
        )

    def _inputs(self, run: RunEntry) -> Sequence[DatasetName]:
        touched = self.catalog.touched([run.id]).get(run.id)
        inputs = touched.inputs if touched else ()
        entries = self.catalog.entries(inputs)
        self.hidden |= self.graph.hidden(inputs)
        return sorted({one.name for one in entries.values() if isinstance(one.name, DatasetName)})

    def _last_write(self, dataset: DatasetName, before: int, above: frozenset[int]) -> Write | None:
        writes = (one for one in self.writes(dataset) if one.time <= before and one.run.id not in above)
        return max(writes, key=lambda one: (one.time, one.run.id), default=None)

    def writes(self, dataset: DatasetName) -> Sequence[Write]:
        """The latest writes of a dataset under any of its names, the newest first."""
        if dataset not in self._writes:
            ids = list(map(node_id, self._names(dataset)))
            found = self.catalog.writes_of_all(ids, Window(limit=MOST_WRITES))
            self._writes[dataset] = sorted(found, key=lambda one: (-one.time, one.run.id))
        return self._writes[dataset]

    def _names(self, dataset: DatasetName) -> Sequence[DatasetName]:
        return self.graph.groups([node_id(dataset)]).get(node_id(dataset), (dataset,))

    def _failed_check(self, write: Write, dataset: DatasetName) -> str:
        """A check that failed between a write and the next one; one in the run that wrote counts for its own write."""
        later = [one.time for one in self.writes(dataset) if one.time > write.time]
        until = min(later, default=None)
        for time, name, run in self._failed(dataset):
            is_own = run == write.run.name
            if is_own or (time >= write.time and (until is None or time < until)):
                return name
        return ""

    def _failed(self, dataset: DatasetName) -> Sequence[tuple[int, str, RunName | None]]:
        if dataset not in self._failures:
            page = results_of(self.graph, self._names(dataset), None)
            self.checked = self.checked and page.stopped_by != "access"
            failed = (one for one in page.results if not one.assertion.held and one.assertion.severity != WARN)
            self._failures[dataset] = [(one.time, one.assertion.name, one.run) for one in failed]
        return self._failures[dataset]


def find_rollback_point(graph: RollbackGraph, catalog: Catalog, dataset: DatasetName, since: int) -> RollbackPoint:
    """The newest run that wrote a dataset before a time (µs) and can be trusted."""
    walk = _Walk(graph, catalog)
    rejected: list[RejectedRun] = []
    point: TrustedRun | None = None
    for write in walk.writes(dataset):
        judged = "it wrote after the data broke" if write.time > since else walk.judge(write, dataset, frozenset())
        if isinstance(judged, TrustedRun):
            point = judged
            break
        rejected.append(RejectedRun(run=write.run.name, written_at=write.time, reason=judged))
    return RollbackPoint(
        dataset=dataset,
        since=since,
        point=point,
        rejected=tuple(rejected),
        checked=walk.checked,
        hidden=len(walk.hidden),
        completeness=completeness_of(graph, None, stopped_by=None if point else "runs"),
    )


def runs_of(point: TrustedRun) -> Iterable[TrustedRun]:
    """A trusted run and all that it rests on, each once."""
    seen: dict[tuple[RunName, DatasetName], TrustedRun] = {}
    left = [point]
    while left:
        one = left.pop()
        if (one.run, one.dataset) not in seen:
            seen[one.run, one.dataset] = one
            left += one.reads
    return seen.values()


def _began(run: RunEntry) -> int:
    return run.started_at if run.started_at is not None else run.seen_from or run.state_at
