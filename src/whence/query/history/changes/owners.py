"""When the owners of datasets and jobs changed.

The store keeps what was said last of the owners of each. What was said before is in the events that people, captures
and runs sent, which a port reads from the log.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from whence.model.graph import RunRow
from whence.model.ids import Kind, kind_of, node_id
from whence.query.history.changes.scope import Scope, unknown_nodes
from whence.query.history.changes.transitions import MOST_RUNS, Found
from whence.query.history.changes.values import Change, ChangeKind, Part, Proof, Unknown, UpstreamChange
from whence.query.ports.graph import RunEnds

FACET = "ownership"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerStatement:
    """Who owns a dataset or job (`subject`, its id), as an event said at a time (µs). `run`: that of the event; 0: it
    is about the dataset or job itself.
    """

    subject: int
    time: int
    owners: frozenset[str]
    event: int
    run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What events about datasets and jobs themselves said. `cut`: those of which some events were not read."""

    statements: Sequence[OwnerStatement] = ()
    cut: frozenset[int] = frozenset()


class ReadOwners(Protocol):
    """What the events in the log say of owners, as far as they are stored."""

    def declared(self, subjects: AbstractSet[int], since: int, until: int) -> Declared:
        """By events about the datasets and jobs themselves, after `since` until `until`, and the last before."""
        ...

    def reported(self, runs: Iterable[int]) -> Mapping[int, Sequence[OwnerStatement]]:
        """By the events of each run, of its job, inputs and outputs. Runs without stored events are left out."""
        ...


def owner_changes(graph: RunEnds, scope: Scope, since: int, until: int, log: ReadOwners | None) -> Found:
    """The events that were the first to say that others own a dataset or job. `log`: None if it cannot be read.

    Of a job whose runs say who owns what, the runs are read that differ: between two that say the same, none is, unless
    somebody declared something else meanwhile.
    """
    rows = [row for row in graph.facets([*scope.datasets, *scope.jobs], (FACET,)) if row.time > since]
    subjects = {row.subject_id for row in rows}
    if not subjects:
        return [], []
    if log is None:
        return [], [unknown_nodes(scope, Unknown.OWNERS, subjects)]
    declared = log.declared(subjects, since, until)
    jobs = subjects.intersection(scope.jobs) | _reporting_jobs(graph, {row.event_id for row in rows})
    times = sorted(one.time for one in declared.statements)
    reading = _Reading(log)
    for runs in _runs_by_job(graph, jobs.intersection(scope.jobs), since, until).values():
        reading.read_turns(runs, times)
    every = [one for one in (*declared.statements, *reading.statements()) if one.subject in subjects]
    unknown = {id_ for id_ in declared.cut | reading.unread if id_ in scope.names}
    found = [one for one in _changes(scope, every, is_cut=bool(reading.unread)) if since < one.time <= until]
    return found, [unknown_nodes(scope, Unknown.OWNERS, unknown)] if unknown else []


def _reporting_jobs(graph: RunEnds, events: set[int]) -> set[int]:
    """The jobs whose runs sent these events."""
    runs = {of for _, of in graph.events(events).values() if of and kind_of(of) is Kind.RUN}
    return {node_id(row.name.job) for row in graph.runs(runs)} if runs else set()


def _runs_by_job(graph: RunEnds, jobs: AbstractSet[int], since: int, until: int) -> Mapping[int, Sequence[RunRow]]:
    found: dict[int, list[RunRow]] = {}
    for row in sorted(graph.run_ends(jobs, since, until, MOST_RUNS), key=lambda row: (row.state_at, row.id)):
        found.setdefault(node_id(row.name.job), []).append(row)
    return found


class _Reading:
    """What runs said of owners, each read once. `unread`: the jobs of which a run has no stored events."""

    def __init__(self, log: ReadOwners) -> None:
        self._log = log
        self._read: dict[int, Sequence[OwnerStatement]] = {}
        self.unread: set[int] = set()

    def statements(self) -> Iterator[OwnerStatement]:
        """All that was read."""
        return (one for some in self._read.values() for one in some)

    def read_turns(self, runs: Sequence[RunRow], times: Sequence[int]) -> None:
        """Read the runs of a job, in order, at which what they say changes, and those around some times."""
        ended = [run.state_at for run in runs]
        around = {place for time in times for place in (bisect_right(ended, time) - 1, bisect_right(ended, time))}
        ends = sorted({0, len(runs) - 1, *(place for place in around if 0 <= place < len(runs))})
        stretches = list(pairwise(ends)) or [(0, 0)]
        while stretches:
            self._read_runs(runs[place] for pair in stretches for place in pair)
            halves = list[tuple[int, int]]()
            for first, last in stretches:
                if last - first > 1 and self._owners(runs[first]) != self._owners(runs[last]):
                    middle = (first + last) // 2
                    halves += ((first, middle), (middle, last))
            stretches = halves

    def _read_runs(self, several: Iterable[RunRow]) -> None:
        new = {run.id: run for run in several if run.id not in self._read}
        found = self._log.reported(sorted(new)) if new else {}
        for id_, run in new.items():
            if id_ not in found:
                self.unread.add(node_id(run.name.job))
            self._read[id_] = found.get(id_, ())

    def _owners(self, run: RunRow) -> Mapping[int, frozenset[str]]:
        return {one.subject: one.owners for one in self._read[run.id]}


def _changes(scope: Scope, every: Iterable[OwnerStatement], *, is_cut: bool) -> Iterator[UpstreamChange]:
    """`is_cut`: some runs were not read, so that the first known one that names owners need not be the first."""
    current: dict[int, frozenset[str]] = {}
    for one in sorted(every, key=lambda one: (one.time, one.event, one.subject)):
        before = current.get(one.subject, frozenset())
        is_first = is_cut and one.run and one.subject not in current
        if one.owners != before and not is_first:
            yield _change(scope, one, before)
        current[one.subject] = one.owners


def _change(scope: Scope, one: OwnerStatement, before: frozenset[str]) -> UpstreamChange:
    change = Change.ADDED if not before else Change.REMOVED if not one.owners else Change.CHANGED
    part = Part(change=change, before=", ".join(sorted(before)), after=", ".join(sorted(one.owners)))
    return UpstreamChange(
        time=one.time,
        kind=ChangeKind.OWNERS,
        change=change,
        node=scope.names[one.subject],
        distance=scope.distances[one.subject],
        parts=(part,),
        proof=Proof(event_id=one.event),
    )
