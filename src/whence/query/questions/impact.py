"""Impact of a change: the affected nodes, counted by kind, owner and tier."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from whence.model.events import RunState
from whence.model.graph import Direction, Grain, JobRun, RunRow
from whence.model.ids import Kind, kind_of
from whence.model.names import JobName, Node, RunName
from whence.model.traits import Traits
from whence.query.answers.values import BOTH, Completeness, Question
from whence.query.ports.graph import Graph, Ints
from whence.query.questions.influence_grades import Influence, Influences, grade_influences
from whence.query.questions.lineage import grain_of, walked
from whence.query.traversal.column_gaps import read_gaps
from whence.query.traversal.edges import names_of
from whence.query.traversal.node_counts import NodeCounts, count_nodes
from whence.query.traversal.node_order import NodeOrder
from whence.query.traversal.result import completeness
from whence.query.traversal.traits import TraitReader
from whence.query.traversal.traversal import Traversal

CHECKED_FOR_GAPS = 100
"""The number of nearest affected nodes that are checked for gaps."""

KINDS = {Kind.DATASET: "dataset", Kind.FIELD: "field", Kind.JOB: "job"}


LISTED_JOBS = 100
"""Of the affected jobs, and of those that check, so many of the nearest are in every answer. A filter by kind lists all
affected ones.
"""


class LastRuns(Graph, Protocol):
    """A graph with the last run of every job."""

    def last_runs(self, job_ids: Iterable[int], at: int | None) -> Mapping[int, JobRun]:
        """The last run of each job that has one, with the runs that contain it; as of a time (µs), None: now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """A run: what became of it, and when (µs)."""

    name: RunName
    state: RunState
    state_at: int
    started_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A downstream node, and one shortest path to it, from the root, both ends included. `type` is the type in its
    facets (VIEW, DASHBOARD, MODEL), or else dataset, field or job. A field has the `owners` and `tier` of its dataset.

    Of a job, `parent` is the job whose run contained its last run (an Airflow DAG, a Spark application, a dbt command),
    and `root` the outermost one.
    """

    name: Node
    distance: int
    path: tuple[Node, ...]
    influence: Influence
    type: str
    owners: tuple[str, ...]
    tier: str
    parent: JobName | None = None
    root: JobName | None = None
    last_run: LastRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of affected nodes, without the root. A node with two owners counts for both.

    An empty owner or tier counts nodes without one. `jobs`: the jobs that derive one of the nodes, or are one.
    `checks`: the jobs that only check one of the nodes or the root; no other number counts them. `by_influence`: by
    how directly they are affected.
    """

    nodes: int
    jobs: int
    checks: int
    by_kind: Mapping[str, int]
    by_type: Mapping[str, int]
    by_owner: Mapping[str, int]
    by_tier: Mapping[str, int]
    by_distance: Mapping[int, int]
    by_influence: Mapping[Influence, int]


@dataclass(frozen=True, slots=True)
class Impact:
    """All counts, and the affected nodes by distance and name, read in parts. `jobs`: the nearest jobs that derive one
    of the nodes or are one, at most LISTED_JOBS. `checks`: the nearest jobs that only check data, as many at most.
    """

    root: Node
    grain: Grain
    types: frozenset[str]
    counts: Counts
    completeness: Completeness
    order: NodeOrder
    jobs: Sequence[Affected]
    checks: Sequence[Affected]
    _page: Callable[[Sequence[int]], Sequence[Affected]]

    def nodes(self, start: int = 0, limit: int | None = None) -> Sequence[Affected]:
        """The affected nodes from index `start` on, with their paths."""
        end = None if limit is None else start + limit
        return self._page(self.order[start:end])


def impact(graph: LastRuns, root: Node, question: Question) -> Impact:
    """The nodes downstream of `root`. By default along DIRECT and INDIRECT edges; jobs are those that read
    and write. Jobs that only check data are apart: a change affects no numbers of theirs.
    """
    types = question.types or BOTH
    walk, chosen = walked(graph, root, question, Direction.DOWNSTREAM, types)
    affected = walk.others()
    if not question.only.is_empty:
        affected = np.array(sorted(chosen - {walk.root}), np.int64)
    checks = walk.check_jobs(affected)
    affected = np.setdiff1d(affected, checks, assume_unique=True)
    reader = _Reader(graph, walk, TraitReader(walk.identity, question.at), grade_influences(walk))
    return Impact(
        root=names_of(walk, {walk.root})[walk.root],
        grain=grain_of(root),
        types=types,
        counts=_count(walk, affected, checks, reader),
        completeness=completeness(walk, has_gaps=_has_gaps(walk, affected)),
        order=NodeOrder(walk, affected),
        jobs=reader.read(_nearest_jobs(walk, affected)),
        checks=reader.read(NodeOrder(walk, checks)[:LISTED_JOBS]),
        _page=reader.read,
    )


def _nearest_jobs(walk: Traversal, affected: Ints) -> Sequence[int]:
    deriving = walk.deriving_jobs(affected)
    walk.add_jobs()
    return NodeOrder(walk, deriving)[:LISTED_JOBS]


def _has_gaps(walk: Traversal, affected: Ints) -> bool:
    """Whether lineage is missing at the root, or at one of the nearest nodes."""
    nearest = NodeOrder(walk, affected)[:CHECKED_FOR_GAPS]
    walk.fetch(nearest)
    return bool(read_gaps(walk, {walk.root, *nearest}))


def _count(walk: Traversal, ids: Ints, checks: Ints, reader: "_Reader") -> Counts:
    """The counts of some nodes of a traversal, and of jobs that only check."""
    knowledge = reader.traits
    found = count_nodes(walk, ids)
    subjects = [subject for _, subject, _ in found.unknown]
    walk.learn(subjects)
    knowledge.learn_subjects(subjects)
    kinds: Counter[Kind] = Counter()
    types: Counter[str] = Counter()
    owners: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    for kind, traits, number in (*found.known, *_counts_by_traits(found, knowledge)):
        kinds[kind] += number
        types[_type(kind, traits)] += number
        tiers[traits.tier] += number
        owners.update(dict.fromkeys(traits.owners or ("",), number))
    return Counts(
        nodes=kinds.total(),
        jobs=found.jobs,
        checks=len(checks),
        by_kind={KINDS[kind]: kinds[kind] for kind in sorted(kinds)},
        by_type=_largest_first(types),
        by_owner=_largest_first(owners),
        by_tier=dict(sorted(tiers.items())),
        by_distance=dict(sorted(found.distances.items())),
        by_influence=reader.influences.count(ids),
    )


def _counts_by_traits(found: NodeCounts, knowledge: TraitReader) -> Iterator[tuple[Kind, Traits, int]]:
    sorts: Counter[tuple[Kind, Traits]] = Counter()
    for kind, subject, number in found.unknown:
        sorts[kind, knowledge.of_subject(subject)] += number
    return ((*one, number) for one, number in sorts.items())


def _largest_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _type(kind: Kind, traits: Traits) -> str:
    return min(traits.types) if traits.types and kind is not Kind.FIELD else KINDS[kind]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads affected nodes of a traversal."""

    graph: LastRuns
    walk: Traversal
    traits: TraitReader
    influences: Influences

    def read(self, ids: Sequence[int]) -> Sequence[Affected]:
        """These nodes, with their paths."""
        self.walk.fetch(ids)
        self.traits.learn(ids)
        paths = {id_: _path(self.walk, id_) for id_ in ids}
        names = names_of(self.walk, {id_ for path in paths.values() for id_ in path})
        runs = self._last_runs(ids)
        return [
            Affected(
                name=names[id_],
                distance=self.walk.depth[id_],
                path=tuple(names[step] for step in paths[id_]),
                influence=influence,
                type=_type(kind_of(id_), traits := self.traits.of(id_)),
                owners=tuple(sorted(traits.owners)),
                tier=traits.tier,
                parent=_job_of(run.parent) if (run := runs.get(id_)) else None,
                root=_job_of(run.root) if run else None,
                last_run=_last_run(run.run) if run else None,
            )
            for id_, influence in zip(ids, self.influences.of(ids), strict=True)
        ]

    def _last_runs(self, ids: Iterable[int]) -> Mapping[int, JobRun]:
        jobs = [id_ for id_ in ids if kind_of(id_) is Kind.JOB]
        return self.graph.last_runs(jobs, self.walk.spec.question.at) if jobs else {}


def _job_of(run: RunRow | None) -> JobName | None:
    return None if run is None else run.name.job


def _last_run(run: RunRow) -> LastRun:
    return LastRun(name=run.name, state=run.state, state_at=run.state_at, started_at=run.started_at)


def _path(walk: Traversal, id_: int) -> list[int]:
    path = [id_]
    while path[-1] in walk.via:
        path.append(walk.via[path[-1]].parent)
    return path[::-1]
