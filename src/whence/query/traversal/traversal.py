"""A finished traversal: its reached nodes; edges and witnesses are read only for the requested nodes.

Naming and proving an edge costs more than finding it, and a page shows only a few.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from whence.model.graph import Direction, EdgeRow, Grain
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import Node
from whence.query.answers.values import Question
from whence.query.ports.graph import Adjacency, Graph, Ints
from whence.query.traversal.breadth_first import Search, TakenEdges, TooManyEdges, search_breadth_first
from whence.query.traversal.filters import FilterMatcher
from whence.query.traversal.index_sets import contains, distinct, joined
from whence.query.traversal.representatives import Representatives, canonical_root, learn_nodes
from whence.query.traversal.traits import TraitReader
from whence.query.traversal.witnesses import Link, Via, find_witnesses


@dataclass(frozen=True, slots=True, kw_only=True)
class TraversalSpec:
    """The parameters of a traversal. `within`: do not pass through nodes that do not match the filter. `kept_job`: a
    job that is an end although it derives an edge.
    """

    direction: Direction
    grain: Grain
    types: frozenset[str]
    question: Question
    within: bool = False
    kept_job: int = 0


@dataclass(slots=True)
class Traversal:
    """The reached nodes of a search. Ids are canonical."""

    graph: Graph
    identity: Representatives
    spec: TraversalSpec
    fits: FilterMatcher
    adjacency: Adjacency
    root: int
    taken: Sequence[TakenEdges]
    ids: Ints
    """The ids of the reached nodes, sorted; `places` and `depths` have their indices and distances."""
    places: Ints
    depths: Ints
    depth: Mapping[int, int]
    unfinished: set[int]
    """The frontier: nodes beyond which there is more, or may be more if a budget stopped the search."""
    stopped_by: str | None
    via: dict[int, Via] = field(default_factory=dict)
    links: dict[Link, list[EdgeRow]] = field(default_factory=dict)
    _fetched: set[int] = field(default_factory=set)
    _deriving: set[int] = field(default_factory=set)
    """The jobs that `add_jobs` added."""

    def add_jobs(self) -> None:
        """Make the jobs that assert an edge which was taken nodes of this traversal, each as far as its nearest edge.
        Its last hop is one of these edges: it comes from where the job read.
        """
        found = [(one.owner, np.full(len(one.owner), one.depth)) for one in self.taken]
        owners = np.concatenate([owner for owner, _ in found] or [self.places[:0]])
        depths = np.concatenate([depth for _, depth in found] or [self.depths[:0]])
        is_new = (self.adjacency.kinds(owners) == Kind.JOB) & ~contains(np.sort(self.places), owners)
        order = np.lexsort((depths[is_new], owners[is_new]))
        places, first = np.unique(owners[is_new][order], return_index=True)
        self._insert(places, depths[is_new][order][first])

    def _insert(self, places: Ints, depths: Ints) -> None:
        new = self.adjacency.ids(places)
        self._deriving |= set(new.tolist())
        ids = np.concatenate([self.ids, new])
        order = np.argsort(ids)
        self.ids = ids[order]
        self.places = np.concatenate([self.places, places])[order]
        self.depths = np.concatenate([self.depths, depths])[order]
        self.depth = dict(zip(self.ids.tolist(), self.depths.tolist(), strict=True))

    def deriving_jobs(self, ids: Ints) -> Ints:
        """The jobs among some reached nodes, and those that assert the edges that lead to them or to the root. The root
        is not one of them.
        """
        places = self.places_of(ids)
        is_far = np.zeros(self.adjacency.count, bool)
        is_far[places] = is_far[self.places_of([self.root])] = True
        several = joined([places, *(one.owner[is_far[one.far]] for one in self.taken)])
        found: Ints = self.adjacency.ids(several[self.adjacency.kinds(several) == Kind.JOB])
        return np.sort(found[found != self.root])

    def check_jobs(self, ids: Ints) -> Ints:
        """Those of some nodes that are jobs which only check data."""
        jobs: Ints = ids[(ids & 3) == Kind.JOB]
        found = self.graph.check_jobs(jobs.tolist(), self.spec.question.at) if len(jobs) else ()
        return np.array(sorted(found), np.int64)

    def added_links(self, ids: Iterable[int]) -> Sequence[Link]:
        """The last hops of those of the nodes that `add_jobs` added."""
        return [self.via[id_].link for id_ in ids if id_ in self._deriving]

    def fetch(self, ids: Iterable[int]) -> None:
        """Read all edges that lead to these nodes, their witnesses, and the names of the nodes on their paths."""
        wanted = sorted(set(ids) - self._fetched)
        self._fetched |= set(wanted)
        self.find_witnesses(wanted)
        onward = set(self._witness_links(wanted))
        self._read(joined([self.places_of(wanted), self.places_of([far_end(self, link) for link in onward])]))

    def find_witnesses(self, ids: Iterable[int]) -> None:
        """Find the witnesses of nodes, and of all nodes on the paths to them."""
        at: dict[int, set[int]] = {}
        for id_ in ids:
            at.setdefault(self.depth[id_], set()).add(id_)
        for depth in range(max(at, default=0), 0, -1):
            here = at.get(depth, set())
            found = self._find_witnesses(depth, here - self._deriving, by_owner=False)
            found |= self._find_witnesses(depth, here & self._deriving, by_owner=True)
            self.via |= found
            at.setdefault(depth - 1, set()).update(via.parent for via in found.values())

    def _find_witnesses(self, depth: int, ids: Iterable[int], *, by_owner: bool) -> dict[int, Via]:
        places = np.sort(self.places_of(sorted(ids)))
        return find_witnesses(self.adjacency, self.taken, self.spec.direction, depth, places, by_owner=by_owner)

    def read(self, ids: Iterable[int]) -> None:
        """Read all edges that lead to these nodes."""
        self._read(np.sort(self.places_of(sorted(ids))))

    def learn(self, ids: Iterable[int]) -> None:
        """Read all names of these nodes, which were reached, or are datasets of reached nodes."""
        wanted = set(ids)
        reached = wanted & self.depth.keys()
        beside = [place for place in map(self.adjacency.place, wanted - reached) if place >= 0]
        places = np.concatenate([self.places_of(sorted(reached)), np.array(sorted(beside), np.int64)])
        learn_nodes(self.identity, self.adjacency, places)

    def distances(self, ids: Ints) -> Ints:
        """The distance of each node from the root."""
        return self.depths[np.searchsorted(self.ids, ids)]

    def by_name(self, ids: Ints) -> Ints:
        """The rank of each node's name among all names; -1: not known."""
        return self.adjacency.by_name(self.places_of(ids))

    def others(self) -> Ints:
        """The reached nodes without the root."""
        found: Ints = self.ids[self.ids != self.root]
        return found

    def inside(self, dataset: int) -> set[int]:
        """A canonical dataset, and its reached fields."""
        place = self.adjacency.place(dataset)
        if place < 0:
            return set()
        found: Ints = self.ids[self.adjacency.datasets(self.places) == place]
        return set(found.tolist())

    def owned_by(self, owners: set[int]) -> set[int]:
        """The far ends of the edges that these owners assert."""
        several = joined(one.owner for one in self.taken)
        ids = self.adjacency.ids(several)
        chosen = several[np.isin(ids, np.array(sorted(owners), np.int64))]
        fars = joined(one.far[contains(chosen, one.owner)] for one in self.taken)
        return set(self.adjacency.canonical_ids(fars).tolist())

    def owners(self) -> set[int]:
        """The owners of the followed edges."""
        return set(self.adjacency.ids(joined(one.owner for one in self.taken)).tolist())

    def on_the_way_to(self, goals: Iterable[int]) -> set[int]:
        """The reached nodes from which followed edges lead to one of these. It may include a few others."""
        near = np.concatenate([one.near for one in self.taken] or [self.places[:0]])
        far = np.concatenate([one.far for one in self.taken] or [self.places[:0]])
        wholes = self.adjacency.datasets(self.places)
        found = frontier = np.sort(self.places[np.isin(self.ids, np.array(sorted(goals), np.int64))])
        while len(frontier):
            ends = distinct(near[contains(frontier, far)])
            of_jobs = self.adjacency.kinds(ends) == Kind.JOB
            # A dataset probes at its fields, and a field at its dataset.
            ends = joined([ends, self.adjacency.datasets(ends[~of_jobs])])
            probing = np.sort(self.places[contains(ends, self.places) | contains(ends, wholes)])
            frontier = probing[~contains(found, probing)]
            found = joined([found, frontier])
        return set(self.adjacency.canonical_ids(found).tolist())

    def _witness_links(self, ids: Iterable[int]) -> Iterator[Link]:
        seen: set[int] = set()
        for id_ in ids:
            while id_ in self.via and id_ not in seen:
                seen.add(id_)
                yield self.via[id_].link
                id_ = self.via[id_].parent

    def _read(self, fars: Ints) -> None:
        for grain, keys in self._keys(fars):
            rows = self.adjacency.rows(keys, self.spec.direction)
            _learn_ends(self.identity, rows)
            for row in rows:
                several = self.links.setdefault(_link_of(self, row, grain), [])
                if row not in several:
                    several.append(row)

    def _keys(self, fars: Ints) -> Iterator[tuple[Grain, Ints]]:
        """The keys of the edges into nodes; those of the hop from a job are separate."""
        first = Grain.JOB if kind_of(self.root) is Kind.JOB else Grain.DATASET
        by: dict[Grain, list[Ints]] = {}
        for one in self.taken:
            grain = first if one.depth == 1 else Grain.DATASET
            by.setdefault(grain, []).append(one.key[contains(fars, one.far)])
        for grain, keys in by.items():
            if len(several := np.concatenate(keys)):
                yield grain, several

    def places_of(self, ids: Sequence[int] | Ints) -> Ints:
        """The indices of reached nodes in the adjacency."""
        return self.places[np.searchsorted(self.ids, np.array(ids, np.int64))]


def traverse(graph: Graph, root: Node, spec: TraversalSpec) -> Traversal:
    """Search from a node, over the first adjacency of the graph that can answer."""
    identity, root_id = canonical_root(graph, root)
    fits = FilterMatcher(spec.question.only, identity, TraitReader(identity, spec.question.at))
    for adjacency in graph.adjacencies(spec.question.at, [node_id(root), spec.kept_job]):
        place = next((at for at in map(adjacency.place, (root_id, node_id(root))) if at >= 0), -1)
        if place < 0:
            continue
        try:
            found = search_breadth_first(_search(adjacency, place, spec, fits))
        except TooManyEdges:
            continue
        ids = adjacency.canonical_ids(found.places)
        order = np.argsort(ids)
        ids, places, depths = ids[order], found.places[order], found.depths[order]
        depth = dict(zip(ids.tolist(), depths.tolist(), strict=True))
        unfinished = set(adjacency.canonical_ids(found.unfinished).tolist())
        reached = (ids, places, depths, depth, unfinished, found.stopped_by)
        return Traversal(graph, identity, spec, fits, adjacency, root_id, found.taken, *reached)
    raise LookupError(root)


def _search(adjacency: Adjacency, place: int, spec: TraversalSpec, fits: FilterMatcher) -> Search:
    return Search(
        adjacency=adjacency,
        root=int(adjacency.canonical(np.array([place]))[0]),
        grain=spec.grain,
        question=spec.question,
        direction=spec.direction,
        types=spec.types,
        kept_job=adjacency.place(spec.kept_job) if spec.kept_job else -1,
        accept=fits.accept_over(adjacency) if spec.within and not spec.question.only.is_empty else None,
    )


def far_end(walk: Traversal, link: Link) -> int:
    """The end of a link at which the search arrived."""
    return link.source if walk.spec.direction is Direction.UPSTREAM else link.target


def near_end(walk: Traversal, link: Link) -> int:
    """The end of a link from which the search came."""
    return link.target if walk.spec.direction is Direction.UPSTREAM else link.source


def _learn_ends(identity: Representatives, rows: Sequence[EdgeRow]) -> None:
    identity.learn([(row.far_id, row.far_dataset_id) for row in rows])
    identity.learn([(row.near_id, row.near_dataset_id) for row in rows])
    identity.learn((row.far_dataset_id, row.far_dataset_id) for row in rows if row.far_dataset_id)


def _link_of(walk: Traversal, row: EdgeRow, grain: Grain) -> Link:
    """The edge between canonical nodes that a row describes. At job grain it ends at whole datasets."""
    is_whole = grain is Grain.JOB and row.far_dataset_id
    near, far = map(walk.identity.canonical, (row.near_id, row.far_dataset_id if is_whole else row.far_id))
    ends = (far, near) if walk.spec.direction is Direction.UPSTREAM else (near, far)
    return Link(*ends, row.owner_id)
