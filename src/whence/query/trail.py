"""What a walk over arrays took (`query.flood`), read from the tables for the nodes that an answer shows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind, kind_of
from whence.model.traits import NONE, Traits
from whence.query.flood import Flood, Taken, TooManyEdges, flood_from
from whence.query.places import contains, distinct, joined
from whence.query.ports import Ints
from whence.query.walk import Link, Via, Walk, learn_ends, link_of


@dataclass(frozen=True, slots=True)
class Tally:
    """Nodes by distance; how many jobs are or derive one; and nodes by kind and by what is said of them: where that is
    not known, by the dataset of fields, else the node itself.
    """

    distances: Mapping[int, int]
    jobs: int
    said: Sequence[tuple[Kind, Traits, int]]
    unsaid: Sequence[tuple[Kind, int, int]]


_ENDS = (Taken._fields.index("near"), Taken._fields.index("far"))


@dataclass(slots=True)
class Trail:
    """The edges of a walk, as arrays. `fetch` makes those at some nodes known to the walk."""

    flood: Flood
    root: int
    ids: Ints
    """Of the reached nodes, ascending; `places` and `depths` are theirs."""
    places: Ints
    depths: Ints
    _fetched: set[int] = field(default_factory=set)

    def fetch(self, walk: Walk, ids: Iterable[int]) -> None:
        """Give the walk all edges by which it came to nodes, their witnesses, and all names of what is on the way."""
        wanted = sorted(set(ids) - self._fetched)
        self._fetched |= set(wanted)
        at = np.searchsorted(self.ids, np.array(wanted, np.int64))
        chosen = self.places[at]
        walk.via |= self._vias(dict(zip(chosen.tolist(), self.depths[at].tolist(), strict=True)))
        onward = set(self._witness_links(walk, wanted))
        self._read(walk, joined([chosen, self._places([self._far(link) for link in onward])]))

    def read(self, walk: Walk, ids: Iterable[int]) -> None:
        """Give the walk all edges by which it came to nodes."""
        self._read(walk, np.sort(self._places(sorted(ids))))

    def _read(self, walk: Walk, fars: Ints) -> None:
        for grain, keys in self._keys(fars):
            rows = self.flood.edges.rows(keys, walk.direction)
            learn_ends(walk, rows)
            for row in rows:
                link = link_of(walk, row, grain)
                several = walk.links.setdefault(link, [])
                if row not in several:
                    several.append(row)

    def distances(self, ids: Ints) -> Ints:
        """How far each node is from the root."""
        return self.depths[np.searchsorted(self.ids, ids)]

    def by_name(self, ids: Ints) -> Ints:
        """The place of each node's name among all names; -1: not known."""
        return self.flood.edges.by_name(self._places(ids))

    def others(self) -> Ints:
        """The reached nodes, the root not among them."""
        found: Ints = self.ids[self.ids != self.root]
        return found

    def inside(self, dataset: int) -> set[int]:
        """The reached fields of a canonical dataset, and itself."""
        place = self.flood.edges.place(dataset)
        if place < 0:
            return set()
        found: Ints = self.ids[self.flood.edges.datasets(self.places) == place]
        return set(found.tolist())

    def on_the_way_to(self, goals: Iterable[int]) -> set[int]:
        """The reached nodes from which edges of the walk lead to one of these; it may have a few more."""
        near, far = (np.concatenate([one[end] for one in self.flood.taken] or [self.places[:0]]) for end in _ENDS)
        wholes = self.flood.edges.datasets(self.places)
        found = frontier = np.sort(self.places[np.isin(self.ids, np.array(sorted(goals), np.int64))])
        while len(frontier):
            ends = distinct(near[contains(frontier, far)])
            of_jobs = self.flood.edges.kinds(ends) == Kind.JOB
            # A whole asks at its fields, a field at its whole.
            ends = joined([ends, self.flood.edges.datasets(ends[~of_jobs])])
            asking = np.sort(self.places[contains(ends, self.places) | contains(ends, wholes)])
            frontier = asking[~contains(found, asking)]
            found = joined([found, frontier])
        return set(self.flood.edges.canonical_ids(found).tolist())

    def tally(self) -> Tally:
        """How many nodes there are of each sort, the root not among them."""
        edges, others = self.flood.edges, self.ids != self.root
        places, kinds = self.places[others], self.ids[others] & 3
        subjects = np.where(kinds == Kind.FIELD, edges.datasets(places), places)
        classes = edges.classes(subjects)
        known = classes >= -1
        said, unsaid = _counted((classes[known] + 1) * 4 + kinds[known]), _counted(subjects[~known] * 4 + kinds[~known])
        asked = edges.canonical_ids(np.array([one >> 2 for one in unsaid], np.int64)).tolist()
        return Tally(
            distances=_counted(self.depths[others]),
            jobs=self._jobs(),
            said=[
                (Kind(sort & 3), edges.traits((sort >> 2) - 1) if sort >> 2 else NONE, number)
                for sort, number in said.items()
            ],
            unsaid=[(Kind(one & 3), subject, unsaid[one]) for one, subject in zip(unsaid, asked, strict=True)],
        )

    def learn(self, walk: Walk, ids: Iterable[int]) -> None:
        """Make nodes, and datasets of such, known to the walk by all their names."""
        edges, asked = self.flood.edges, set(ids)
        reached = asked & walk.depth.keys()
        beside = [place for place in map(edges.place, asked - reached) if place >= 0]
        wanted = np.concatenate([self._places(sorted(reached)), np.array(sorted(beside), np.int64)])
        several = wanted[edges.is_grouped(wanted)]
        if not len(several):
            return
        which, names = edges.members(several)
        # A node that stands for others may be a name that nothing says: it is learned from one that something does.
        others = (names != several[which]) | (np.bincount(which)[which] == 1)
        pairs = (edges.ids(names[others]).tolist(), edges.ids(edges.datasets(names[others])).tolist())
        walk.identity.learn(zip(*pairs, strict=True))

    def _jobs(self) -> int:
        """How many jobs are among the nodes other than the root, and those who say the edges that lead to them."""
        edges = self.flood.edges
        root = edges.place(self.root)
        owners = [distinct(one.owner[one.far != root]) for one in self.flood.taken]
        return int(np.sum(edges.kinds(joined([self.places[self.places != root], *owners])) == Kind.JOB))

    def _vias(self, wanted: dict[int, int]) -> dict[int, Via]:
        """The witnesses of nodes (place → depth) and of all nodes on the way to them."""
        at: dict[int, set[int]] = {}
        for place, depth in wanted.items():
            at.setdefault(depth, set()).add(place)
        found: dict[int, Via] = {}
        for depth in range(max(at, default=0), 0, -1):
            hop = self._vias_at(depth, np.array(sorted(at.get(depth, ())), np.int64))
            found |= hop
            parents = self._places([via.parent for via in hop.values()]) if hop else ()
            at.setdefault(depth - 1, set()).update(map(int, parents))
        return found

    def _vias_at(self, depth: int, places: Ints) -> dict[int, Via]:
        found: dict[int, Via] = {}
        begin, end = (side(self.flood.taken, depth, key=attrgetter("depth")) for side in (bisect_left, bisect_right))
        for one in self.flood.taken[begin:end] if len(places) else ():
            for far, via in self._candidates(one, np.flatnonzero(contains(places, one.far))):
                found[far] = min(found.get(far, via), via)
        return found

    def _candidates(self, taken: Taken, rows: Ints) -> Iterator[tuple[int, Via]]:
        ids, owners = self.flood.edges.canonical_ids, self.flood.edges.ids(taken.owner[rows])
        columns = (ids(taken.near[rows]), ids(taken.far[rows]), owners, ids(taken.parent[rows]))
        for near, far, owner, parent, rank in zip(
            *(one.tolist() for one in columns), taken.rank[rows].tolist(), strict=True
        ):
            ends = (far, near) if self.flood.direction is Direction.UPSTREAM else (near, far)
            yield far, Via((rank >> 1, bool(rank & 1)), parent, Link(*ends, owner))

    def _witness_links(self, walk: Walk, ids: Iterable[int]) -> Iterator[Link]:
        seen: set[int] = set()
        for id_ in ids:
            while id_ in walk.via and id_ not in seen:
                seen.add(id_)
                yield walk.via[id_].link
                id_ = walk.via[id_].parent

    def _far(self, link: Link) -> int:
        return link.source if self.flood.direction is Direction.UPSTREAM else link.target

    def _keys(self, fars: Ints) -> Iterator[tuple[Grain, Ints]]:
        """The keys of the edges into nodes, those of the hop from a job apart."""
        first = Grain.JOB if kind_of(self.root) is Kind.JOB else Grain.DATASET
        by: dict[Grain, list[Ints]] = {}
        for one in self.flood.taken:
            grain = first if one.depth == 1 else Grain.DATASET
            by.setdefault(grain, []).append(one.key[contains(fars, one.far)])
        for grain, keys in by.items():
            if len(several := np.concatenate(keys)):
                yield grain, several

    def _places(self, ids: Sequence[int] | Ints) -> Ints:
        at = np.searchsorted(self.ids, np.array(ids, np.int64))
        return self.places[at]


def walk_arrays(walk: Walk, root: int, grain: Grain) -> bool:
    """Walk over the graph's arrays, if it has any that can answer. The walk has no edges then: its trail has them."""
    edges = walk.graph.adjacency(walk.question.at) if walk.question.only.is_empty else None
    place = -1 if edges is None else edges.place(root)
    if edges is None or place < 0:
        return False
    try:
        flood = flood_from(edges, place, grain, walk.question, walk.direction, walk.types)
    except TooManyEdges:
        return False
    ids = edges.canonical_ids(flood.places)
    order = np.argsort(ids)
    trail = Trail(flood, root, ids[order], flood.places[order], flood.depths[order])
    walk.depth = dict(zip(trail.ids.tolist(), trail.depths.tolist(), strict=True))
    walk.unfinished = set(edges.canonical_ids(flood.unfinished).tolist())
    walk.stopped_by, walk.trail = flood.stopped_by, trail
    return True


def _counted(numbers: Ints) -> dict[int, int]:
    found = distinct(numbers)
    counts = np.bincount(np.searchsorted(found, numbers), minlength=len(found))
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
