"""The connected component of a job or dataset, in both directions of the data flow: what Marquez calls lineage.

A hop leads from a job to a job that reads or writes one of its datasets. Datasets that declare their own lineage are
connected without a job.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind, node_id
from whence.model.names import DatasetName, JobName, Node
from whence.query.ports.graph import Adjacency, Graph, Ints
from whence.query.traversal.index_sets import VisitedMap, distinct, joined, visited_map
from whence.query.traversal.representatives import canonical_root

_PLACES = 2**31
"""Larger than any index."""

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedComponent:
    """Nodes sorted by name, and their ids; edges as indices of nodes (source, target).

    `complete`: neither depth nor a budget cut anything off. The root has its requested name, other nodes the name of
    their representative.
    """

    nodes: tuple[Node, ...]
    ids: tuple[int, ...]
    edges: tuple[Ends, ...]
    complete: bool
    depth_reached: int


@dataclass(slots=True)
class _Search:
    adjacency: Adjacency
    limit: int
    visited: VisitedMap
    pairs: list[Ints] = field(default_factory=list)
    """Edges as indices, each encoded as source × `_PLACES` + target."""
    is_cut: bool = False

    def edges(self, probes: Ints, way: Direction, grain: Grain) -> tuple[Ints, Ints, Ints]:
        """Edges at nodes: (near end, far end, owner)."""
        probes = probes[np.argsort(self.adjacency.ids(probes))]
        which, far, owner, _, _ = self.adjacency.edges(probes, way, grain, self.limit)
        self.visited.fit(self.adjacency.count)
        self.is_cut |= len(which) > self.limit
        return probes[which[: self.limit]], far[: self.limit], owner[: self.limit]

    def new(self, fars: Ints) -> Ints:
        """The nodes that were not reached before."""
        return distinct(fars[self.visited.distances(fars) < 0])

    def join(self, near: Ints, far: Ints, way: Direction) -> Ints:
        """Add edges, and return the new far ends."""
        source, target = (far, near) if way is Direction.UPSTREAM else (near, far)
        self.pairs.append(distinct(source * _PLACES + target))
        new = self.new(far)
        self.visited.reach(new, 0)
        return new


def connected_component(
    graph: Graph, root: DatasetName | JobName, depth: int, limit: int = 200_000
) -> ConnectedComponent:
    """The jobs at most `depth` hops from a job, and their datasets. The jobs of a dataset are one hop from it."""
    start, adjacency, place = _start(graph, root)
    with visited_map(adjacency.count) as visited:
        search = _Search(adjacency, limit, visited)
        hops, more = _expand(search, np.array([place]), depth)
        nodes = adjacency.canonical_ids(visited.reached()).tolist()
    ends = (adjacency.canonical_ids(one).tolist() for one in np.divmod(joined(search.pairs), _PLACES))
    names = {**graph.nodes(nodes), start: root}
    ids = sorted(names, key={id_: str(name) for id_, name in names.items()}.__getitem__)
    at = {id_: number for number, id_ in enumerate(ids)}
    return ConnectedComponent(
        nodes=tuple(map(names.__getitem__, ids)),
        ids=tuple(node_id(root) if id_ == start else id_ for id_ in ids),
        edges=tuple(
            sorted((at[one], at[other]) for one, other in zip(*ends, strict=True) if one in at and other in at)
        ),
        complete=not (search.is_cut or more),
        depth_reached=hops,
    )


def _start(graph: Graph, root: DatasetName | JobName) -> tuple[int, Adjacency, int]:
    _, start = canonical_root(graph, root)
    for adjacency in graph.adjacencies(None, [node_id(root)]):
        place = next((at for at in map(adjacency.place, (start, node_id(root))) if at >= 0), -1)
        if place >= 0:
            return start, adjacency, int(adjacency.canonical(np.array([place]))[0])
    raise LookupError(root)


def _expand(search: _Search, start: Ints, depth: int) -> tuple[int, bool]:
    """Expand up to `depth` hops: (hops made, whether there is more)."""
    search.visited.reach(start, 0)
    datasets, hops = _datasets_at(search, start), 0
    while len(datasets) and hops < depth and not search.is_cut:
        frontier = joined(search.join(*one) for one in _jobs_at(search, datasets))
        datasets = _datasets_at(search, frontier)
        hops += bool(len(frontier))
    return hops, any(len(search.new(far)) for _, far, _ in _jobs_at(search, datasets))


def _datasets_at(search: _Search, found: Ints) -> Ints:
    """The datasets among some nodes, and the new ones that the jobs among them read and write."""
    kinds = search.adjacency.kinds(found)
    jobs, datasets = found[kinds == Kind.JOB], [found[kinds == Kind.DATASET]]
    for way in Direction:
        near, far, _ = search.edges(jobs, way, Grain.JOB)
        whole = search.adjacency.datasets(far)
        touched = search.adjacency.canonical(whole[whole >= 0])
        datasets.append(search.join(near[whole >= 0], touched, way))
    return joined(datasets)


def _jobs_at(search: _Search, datasets: Ints) -> Sequence[tuple[Ints, Ints, Direction]]:
    """Edges from datasets to the jobs that read or write them, and to datasets that are connected without a job."""
    edges, found = search.adjacency, []
    _, names = edges.members(datasets)
    for way in Direction:
        near, far, owner = search.edges(names, way, Grain.DATASET)
        near, kinds = edges.canonical(near), edges.kinds(far)
        is_job = kinds == Kind.JOB
        declared = (kinds == Kind.DATASET) & (edges.kinds(owner) == Kind.DATASET)
        found.append((near[is_job], far[is_job], way))
        found.append((near[declared], edges.canonical(far[declared]), way))
    return found


def touched_by(graph: Graph, jobs: Sequence[int], way: Direction, limit: int) -> Collection[tuple[int, int]]:
    """(job, dataset) for the datasets at the other ends of the jobs' own edges; at most `limit` edges are read."""
    adjacency = next(graph.adjacencies(None, jobs))
    known = np.array([place for place in map(adjacency.place, jobs) if place >= 0], np.int64)
    which, far, *_ = adjacency.edges(known, way, Grain.JOB, limit)
    near, whole = known[which[:limit]], adjacency.datasets(far[:limit])
    job, dataset = np.divmod(joined([near[whole >= 0] * _PLACES + whole[whole >= 0]]), _PLACES)
    return list(zip(adjacency.ids(job).tolist(), adjacency.ids(dataset).tolist(), strict=True))
