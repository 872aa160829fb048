"""The search of `query.neighbourhood` over arrays: a whole hop at a time. What is found is the same."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction
from whence.model.ids import Kind
from whence.query.flood import TooManyEdges
from whence.query.places import distinct, joined
from whence.query.ports import Adjacency, Ints


@dataclass(frozen=True, slots=True)
class Spread:
    """The ids of what was found, and edges between them. `complete`: depth left nothing out."""

    nodes: Sequence[int]
    edges: Sequence[tuple[int, int]]
    complete: bool
    hops: int


@dataclass(slots=True)
class _Search:
    edges: Adjacency
    limit: int
    seen: NDArray[np.bool_]
    pairs: list[Ints] = field(default_factory=list)
    """Edges by places, each as source × `edges.count` + target."""

    def rows(self, probes: Ints, way: Direction) -> tuple[Ints, Ints, Ints]:
        """Edges at nodes: (which of them, far end, owner). Raises TooManyEdges."""
        which, far, owner, _, _ = self.edges.edges(probes, way)
        if len(which) > self.limit:
            raise TooManyEdges
        return which, far, owner

    def new(self, fars: Ints) -> Ints:
        """Those that were not seen before."""
        return distinct(fars[~self.seen[fars]])

    def join(self, near: Ints, far: Ints, way: Direction) -> Ints:
        """Add edges; the far ends that are new."""
        source, target = (far, near) if way is Direction.UPSTREAM else (near, far)
        self.pairs.append(distinct(source * self.edges.count + target))
        new = self.new(far)
        self.seen[new] = True
        return new


def spread_from(edges: Adjacency, root: int, depth: int, limit: int) -> Spread | None:
    """What is at most `depth` hops from the canonical node at a place. None: a hop has more edges than `limit`."""
    try:
        return _spread(_Search(edges, limit, np.zeros(edges.count, bool)), np.array([root]), depth)
    except TooManyEdges:
        return None


def touched_in(edges: Adjacency, jobs: Sequence[int], way: Direction, limit: int) -> Collection[tuple[int, int]] | None:
    """(job, dataset) of the datasets at the other ends of jobs' own edges. None: there are more edges than `limit`."""
    known = np.array([place for place in map(edges.place, jobs) if place >= 0], np.int64)
    which, far, *_ = edges.edges(known, way)
    if len(which) > limit:
        return None
    whole = edges.datasets(far)
    ends = joined([known[which[whole >= 0]] * edges.count + whole[whole >= 0]])
    job, dataset = np.divmod(ends, edges.count)
    return list(zip(edges.ids(job).tolist(), edges.ids(dataset).tolist(), strict=True))


def _spread(search: _Search, start: Ints, depth: int) -> Spread:
    search.seen[start] = True
    datasets, hops = _datasets_at(search, start), 0
    while len(datasets) and hops < depth:
        frontier = joined(search.join(*one) for one in _jobs_at(search, datasets))
        datasets = _datasets_at(search, frontier)
        hops += bool(len(frontier))
    more = any(len(search.new(far)) for _, far, _ in _jobs_at(search, datasets))
    ids = search.edges.canonical_ids
    source, target = np.divmod(joined(search.pairs), search.edges.count)
    return Spread(
        nodes=ids(np.flatnonzero(search.seen)).tolist(),
        edges=list(zip(ids(source).tolist(), ids(target).tolist(), strict=True)),
        complete=not more,
        hops=hops,
    )


def _datasets_at(search: _Search, found: Ints) -> Ints:
    """The datasets among some nodes, and those that the jobs among them read and write, if they are new."""
    kinds = search.edges.kinds(found)
    jobs, datasets = found[kinds == Kind.JOB], [found[kinds == Kind.DATASET]]
    for way in Direction:
        which, far, _ = search.rows(jobs, way)
        whole = search.edges.datasets(far)
        near, touched = jobs[which[whole >= 0]], search.edges.canonical(whole[whole >= 0])
        datasets.append(search.join(near, touched, way))
    return joined(datasets)


def _jobs_at(search: _Search, datasets: Ints) -> Sequence[tuple[Ints, Ints, Direction]]:
    """Edges from datasets to the jobs that touch them, and to datasets that are joined with them without a job."""
    edges, found = search.edges, []
    of, names = edges.members(datasets)
    for way in Direction:
        which, far, owner = search.rows(names, way)
        near, kinds = datasets[of[which]], edges.kinds(far)
        is_job = kinds == Kind.JOB
        declared = (kinds == Kind.DATASET) & (edges.kinds(owner) == Kind.DATASET)
        found.append((near[is_job], far[is_job], way))
        found.append((near[declared], edges.canonical(far[declared]), way))
    return found
