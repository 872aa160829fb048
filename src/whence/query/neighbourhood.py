"""All jobs and datasets that are connected with one, whichever way data flows: what Marquez calls lineage.

A hop goes from a job to a job that reads or writes a dataset of it. Datasets that declare their own lineage are joined
without a job.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whence.model.graph import Direction, EdgeRow, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, JobName, Node
from whence.query.identity import Identity
from whence.query.ports import Graph
from whence.query.spread import spread_from, touched_in

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """Nodes sorted by name, and their ids; edges as places among them (source, target). `complete`: neither depth nor
    a budget left anything out.
    """

    nodes: tuple[Node, ...]
    ids: tuple[int, ...]
    edges: tuple[Ends, ...]
    complete: bool
    depth_reached: int


@dataclass(slots=True)
class _Search:
    graph: Graph
    identity: Identity
    limit: int
    nodes: set[int] = field(default_factory=set)
    edges: set[Ends] = field(default_factory=set)
    cut: bool = False

    def rows(self, ids: Sequence[int], grain: Grain) -> list[tuple[Direction, EdgeRow]]:
        """The edges at nodes, both ways."""
        found: list[tuple[Direction, EdgeRow]] = []
        for way in Direction:
            rows = self.graph.edges(ids, Hop(way, grain), self.limit + 1)
            self.cut |= len(rows) > self.limit
            found += [(way, row) for row in rows[: self.limit]]
        return found

    def learn(self, rows: Iterable[EdgeRow]) -> None:
        """Make the datasets at the far ends known."""
        self.identity.learn((row.far_dataset_id, row.far_dataset_id) for row in rows if row.far_dataset_id)


def neighbourhood(graph: Graph, root: DatasetName | JobName, depth: int, limit: int = 200_000) -> Neighbourhood:
    """The jobs at most `depth` hops from a job (of a dataset, its own jobs are one hop away), and what they touch."""
    search = _Search(graph, Identity(graph), limit)
    start = _start(search, root)
    search.nodes.add(start)
    arrays = graph.adjacency()
    place = -1 if arrays is None else arrays.place(start)
    if arrays is not None and place >= 0 and (found := spread_from(arrays, place, depth, limit)):
        return _neighbourhood(graph.nodes(found.nodes), found.edges, found.complete, found.hops)
    datasets = {start} if isinstance(root, DatasetName) else _datasets_at(search, {start})
    hops = 0
    while datasets and hops < depth and not search.cut:
        frontier = _jobs_at(search, datasets)
        datasets = _datasets_at(search, frontier)
        hops += bool(frontier)
    more = bool(datasets) and bool(_peek(search, datasets))
    return _neighbourhood(_named(search), search.edges, not (search.cut or more), hops)


def _neighbourhood(names: Mapping[int, Node], edges: Iterable[Ends], complete: bool, hops: int) -> Neighbourhood:
    ids = sorted(names, key={id_: str(name) for id_, name in names.items()}.__getitem__)
    places = {id_: place for place, id_ in enumerate(ids)}
    known = ((places[one], places[other]) for one, other in edges if one in places and other in places)
    return Neighbourhood(
        nodes=tuple(map(names.__getitem__, ids)),
        ids=tuple(ids),
        edges=tuple(sorted(known)),
        complete=complete,
        depth_reached=hops,
    )


def _named(search: _Search) -> dict[int, Node]:
    names = search.identity.names
    return {**search.graph.nodes(search.nodes), **{id_: names[id_] for id_ in search.nodes if id_ in names}}


def _start(search: _Search, root: DatasetName | JobName) -> int:
    id_ = node_id(root)
    if isinstance(root, JobName):
        return id_
    search.identity.learn([(id_, id_)])
    return search.identity.canonical(id_)


def _datasets_at(search: _Search, jobs: Iterable[int]) -> set[int]:
    """The datasets that jobs read and write, those that are new."""
    asked = sorted(one for one in jobs if kind_of(one) is Kind.JOB)
    found = {one for one in jobs if kind_of(one) is Kind.DATASET}
    rows = search.rows(asked, Grain.JOB) if asked else []
    search.learn(row for _, row in rows)
    for way, row in rows:
        if row.far_dataset_id:
            found |= _join(search, row.near_id, search.identity.canonical(row.far_dataset_id), way)
    return found


def _jobs_at(search: _Search, datasets: Iterable[int]) -> set[int]:
    """The jobs that touch datasets, and datasets that are joined with them without a job: those that are new."""
    members = {id_: one for one in datasets for id_ in search.identity.members(one)}
    found: set[int] = set()
    rows = search.rows(sorted(members), Grain.DATASET) if members else []
    search.learn(row for _, row in rows if kind_of(row.owner_id) is Kind.DATASET)
    for way, row in rows:
        near = members[row.near_id]
        if kind_of(row.far_id) is Kind.JOB:
            found |= _join(search, near, row.far_id, way)
        elif kind_of(row.owner_id) is Kind.DATASET:
            found |= _join(search, near, search.identity.canonical(row.far_dataset_id), way)
    return found


def _peek(search: _Search, datasets: Iterable[int]) -> set[int]:
    """What one more hop would find; the answer stays as it is."""
    nodes, edges = set(search.nodes), set(search.edges)
    found = _jobs_at(search, datasets)
    search.nodes, search.edges = nodes, edges
    return found


def _join(search: _Search, near: int, far: int, way: Direction) -> set[int]:
    search.edges.add((far, near) if way is Direction.UPSTREAM else (near, far))
    new = {far} - search.nodes
    search.nodes |= new
    return new


def touched_by(graph: Graph, jobs: Sequence[int], way: Direction, limit: int) -> Collection[tuple[int, int]]:
    """(job, dataset) of the datasets at the other ends of jobs' own edges; of at most `limit` edges."""
    arrays = graph.adjacency()
    if arrays is not None and (found := touched_in(arrays, jobs, way, limit)) is not None:
        return found
    rows = graph.edges(jobs, Hop(way, Grain.JOB), limit)
    return {(row.near_id, row.far_dataset_id) for row in rows if row.far_dataset_id}
