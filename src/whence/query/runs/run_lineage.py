"""Lineage of runs: the runs that wrote a run's inputs, and the runs that read its outputs.

A run reads the output of the last run that completed before it began. So it reads the output of another run if it began
after that run completed, and before the next one completed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whence.errors import AmbiguousNodeError, NodeNotFoundError
from whence.model.events import RunState
from whence.model.graph import FOREVER, Direction, RunRow, RunTouch, SetEdge
from whence.model.names import DatasetName, RunName
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness
from whence.query.ports.graph import Runs
from whence.query.runs.commits import Commit, commits_of
from whence.query.traversal.representatives import Representatives

MAX_RUNS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRun:
    """A run, `depth` hops from the requested one. `began` is its start, or its first event.

    `commit` comes from the run's own events; None if it is not known any more.
    """

    name: RunName
    depth: int
    state: RunState
    began: int | None
    ended: int | None
    commit: Commit | None
    reads: tuple[DatasetName, ...]
    writes: tuple[DatasetName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """`reader` read what `writer` wrote; `at` is the writer's latest event about it."""

    writer: RunName
    reader: RunName
    dataset: DatasetName
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLineage:
    """The runs upstream or downstream of a run, by depth and name; `origins` are the inputs that no known run wrote."""

    root: RunName
    direction: Direction
    runs: tuple[AnswerRun, ...]
    handovers: tuple[Handover, ...]
    origins: tuple[DatasetName, ...]
    completeness: Completeness


def resolve_run(graph: Runs, typed: str) -> RunRow:
    """The run with this id, optionally after `run:`. `<id>@<job's node id>` selects one of several jobs.

    Raises NodeNotFoundError, and AmbiguousNodeError if several jobs claim the id.
    """
    text, _, job = typed.removeprefix("run:").partition("@")
    found = [row for row in graph.runs_named(text.lower()) if not job or str(row.name.job) == job]
    if len(found) > 1:
        raise AmbiguousNodeError(typed, tuple(f"{row.name}@{row.name.job}" for row in found))
    if not found:
        raise NodeNotFoundError(typed)
    return found[0]


@dataclass(slots=True)
class _Walk:
    graph: Runs
    direction: Direction
    identity: Representatives
    depth: dict[int, int] = field(default_factory=dict)
    runs: dict[int, RunRow] = field(default_factory=dict)
    reads: dict[int, set[int]] = field(default_factory=dict)
    writes: dict[int, set[int]] = field(default_factory=dict)
    handovers: set[tuple[int, int, int, int]] = field(default_factory=set)
    """(writer, reader, dataset, time)."""
    origins: set[int] = field(default_factory=set)
    is_cut: bool = False


def run_lineage(
    graph: Runs, run: RunRow, direction: Direction, depth: int | None = None, max_runs: int = MAX_RUNS
) -> RunLineage:
    """Follow a run to the runs that wrote its inputs, or read its outputs, and so on."""
    walk = _Walk(graph, direction, Representatives(graph))
    walk.depth[run.id], walk.runs[run.id] = 0, run
    frontier, hops, stopped = [run.id], 0, None
    while frontier and not stopped:
        _read_touched(walk, frontier)
        found = _expand_frontier(walk, frontier, max_runs)
        if hops == depth:
            stopped = "depth" if any(one.run_id not in walk.depth for one, _ in found) else None
            break
        hops += 1
        frontier = _visit_runs(walk, found, hops, max_runs)
        stopped = "nodes" if walk.is_cut else None
    return _answer(walk, run, stopped)


def _read_touched(walk: _Walk, frontier: Sequence[int]) -> None:
    """Read the datasets that each run of the frontier read or wrote."""
    asserted_sets = walk.graph.asserted_sets(frontier)
    edges: dict[int, list[SetEdge]] = {}
    for edge in walk.graph.content({set_id for sets in asserted_sets.values() for set_id in sets}):
        edges.setdefault(edge.set_id, []).append(edge)
    for run_id in frontier:
        own = [edge for set_id in asserted_sets.get(run_id, ()) for edge in edges.get(set_id, ())]
        walk.reads[run_id] = {edge.source_dataset_id for edge in own if edge.source_dataset_id}
        walk.writes[run_id] = {edge.target_dataset_id for edge in own if edge.target_dataset_id}
    touched = {id_ for run_id in frontier for id_ in walk.reads[run_id] | walk.writes[run_id]}
    walk.identity.learn((id_, id_) for id_ in touched)
    # Other runs may have read or written it under another of its names.
    walk.identity.learn((member, member) for id_ in touched for member in _members(walk, id_))


def _expand_frontier(walk: _Walk, frontier: Sequence[int], max_runs: int) -> list[tuple[RunTouch, int]]:
    """(the other run with its dataset, the run of the frontier)."""
    if walk.direction is Direction.UPSTREAM:
        return _writers(walk, frontier)
    return _readers(walk, frontier, max_runs)


def _writers(walk: _Walk, frontier: Sequence[int]) -> list[tuple[RunTouch, int]]:
    touches: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for run_id in frontier:
        for dataset in walk.reads[run_id]:
            for member in _members(walk, dataset):
                touches.setdefault((member, _began(walk.runs[run_id])), []).append((run_id, dataset))
    found: dict[tuple[int, int], RunTouch] = {}
    for (member, time), touching in _by_question(walk.graph.writers(sorted(touches)), touches):
        for run_id, dataset in touches[member, time]:
            latest = found.get((run_id, dataset))
            if touching.run_id != run_id and (latest is None or latest.time < touching.time):
                found[run_id, dataset] = touching
    walk.origins |= {
        walk.identity.canonical(dataset)
        for run_id in frontier
        for dataset in walk.reads[run_id]
        if (run_id, dataset) not in found
    }
    return [(touching, run_id) for (run_id, _), touching in sorted(found.items())]


def _by_question(
    rows: Iterable[RunTouch], touches: Mapping[tuple[int, int], object]
) -> Iterable[tuple[tuple[int, int], RunTouch]]:
    """Each row with every question that it answers: the last writer by a time is also that by a later time."""
    by_dataset: dict[int, list[RunTouch]] = {}
    for row in rows:
        by_dataset.setdefault(row.dataset_id, []).append(row)
    for member, time in sorted(touches):
        in_time = [row for row in by_dataset.get(member, ()) if row.time <= time]
        if in_time:
            yield (member, time), max(in_time, key=lambda row: (row.time, row.run_id))


def _readers(walk: _Walk, frontier: Sequence[int], max_runs: int) -> list[tuple[RunTouch, int]]:
    ended = {run_id: _ended(walk.runs[run_id]) for run_id in frontier}
    written: dict[int, set[int]] = {}
    for run_id in frontier:
        for member in (member for dataset in walk.writes[run_id] for member in _members(walk, dataset)):
            written.setdefault(member, set()).add(run_id)
    ends = sorted({(member, ended[run_id]) for member, several in written.items() for run_id in several})
    until = {(row.dataset_id, time): row.time for time, row in _next(walk.graph.next_writers(ends), ends)}
    rows = walk.graph.readers([(member, time, FOREVER) for member, time in ends], max_runs + 1)
    walk.is_cut |= len(rows) > max_runs
    began = {row.id: _began(row) for row in walk.graph.runs({row.run_id for row in rows})}
    return [
        (row, run_id)
        for row in rows
        for run_id in sorted(written[row.dataset_id] - {row.run_id})
        if ended[run_id] <= began[row.run_id] < until.get((row.dataset_id, ended[run_id]), FOREVER)
    ]


def _next(rows: Iterable[RunTouch], ends: Iterable[tuple[int, int]]) -> Iterable[tuple[int, RunTouch]]:
    """The time of each question, and the first of the rows after it."""
    by_dataset: dict[int, list[RunTouch]] = {}
    for row in rows:
        by_dataset.setdefault(row.dataset_id, []).append(row)
    for member, time in ends:
        later = [row for row in by_dataset.get(member, ()) if row.time > time]
        if later:
            yield time, min(later, key=lambda row: row.time)


def _visit_runs(walk: _Walk, found: Iterable[tuple[RunTouch, int]], depth: int, max_runs: int) -> list[int]:
    new: dict[int, None] = {}
    for touching, run_id in found:
        is_new = touching.run_id not in walk.depth
        walk.is_cut |= is_new and len(walk.depth) >= max_runs
        if is_new and len(walk.depth) < max_runs:
            walk.depth[touching.run_id] = depth
            new[touching.run_id] = None
        if touching.run_id in walk.depth:
            pair = (touching.run_id, run_id) if walk.direction is Direction.UPSTREAM else (run_id, touching.run_id)
            walk.handovers.add((*pair, walk.identity.canonical(touching.dataset_id), touching.time))
    walk.runs |= {row.id: row for row in walk.graph.runs(new)} if new else {}
    return list(new)


def _members(walk: _Walk, dataset: int) -> tuple[int, ...]:
    return walk.identity.members(walk.identity.canonical(dataset))


def _began(run: RunRow) -> int:
    return (
        run.started_at if run.started_at is not None else run.seen_from if run.seen_from is not None else run.state_at
    )


def _ended(run: RunRow) -> int:
    return run.state_at if run.state.rank == RunState.COMPLETE else run.seen_to or run.state_at


def _answer(walk: _Walk, root: RunRow, stopped: str | None) -> RunLineage:
    ids = {id_ for touched in (walk.reads, walk.writes) for several in touched.values() for id_ in several}
    names = {id_: name for id_, name in _names(walk, ids).items() if isinstance(name, DatasetName)}
    commits = commits_of(walk.graph, walk.runs.values())
    runs = [_run(walk, row, names, commits.get(row.id)) for row in walk.runs.values()]
    handovers = [
        Handover(writer=walk.runs[writer].name, reader=walk.runs[reader].name, dataset=names[of], at=at)
        for writer, reader, of, at in walk.handovers
    ]
    return RunLineage(
        root=root.name,
        direction=walk.direction,
        runs=tuple(sorted(runs, key=lambda one: (one.depth, one.name))),
        handovers=tuple(sorted(handovers, key=lambda one: (one.reader, one.writer, one.dataset))),
        origins=tuple(sorted(names[id_] for id_ in walk.origins)),
        completeness=completeness_of(
            walk.graph, None, stopped_by=stopped, depth=max(walk.depth.values()), reached=walk.depth
        ),
    )


def _names(walk: _Walk, ids: Iterable[int]) -> Mapping[int, DatasetName | object]:
    """The canonical name of each dataset, by its own and by its canonical id."""
    canonical = {id_: walk.identity.canonical(id_) for id_ in ids}
    names = {id_: walk.identity.names.get(id_) for id_ in canonical.values()}
    found = {**walk.graph.nodes([id_ for id_, name in names.items() if name is None])}
    known = {id_: name or found[id_] for id_, name in names.items()}
    return {**{id_: known[chosen] for id_, chosen in canonical.items()}, **known}


def _run(walk: _Walk, row: RunRow, names: Mapping[int, DatasetName], commit: Commit | None) -> AnswerRun:
    def several(ids: Iterable[int]) -> tuple[DatasetName, ...]:
        return tuple(sorted({names[id_] for id_ in ids}))

    return AnswerRun(
        name=row.name,
        depth=walk.depth[row.id],
        state=row.state,
        began=row.started_at if row.started_at is not None else row.seen_from,
        ended=row.state_at if row.state.rank == RunState.COMPLETE else None,
        commit=commit,
        reads=several(walk.reads.get(row.id, ())),
        writes=several(walk.writes.get(row.id, ())),
    )
