"""Links and witnesses. The witness of a node is chosen deterministically among the edges by which a search first
reached it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from whence.model.graph import Direction
from whence.query.ports.graph import Adjacency, Ints
from whence.query.traversal.breadth_first import TakenEdges
from whence.query.traversal.index_sets import contains


class Link(NamedTuple):
    """An edge between canonical nodes, as asserted by one owner."""

    source: int
    target: int
    owner: int


class Via(NamedTuple):
    """A candidate for a node's witness: the least is chosen. `rank` prefers direct and confirmed edges."""

    rank: tuple[int, bool]
    parent: int
    link: Link


def find_witnesses(
    adjacency: Adjacency,
    taken: Sequence[TakenEdges],
    direction: Direction,
    depth: int,
    places: Ints,
    *,
    by_owner: bool = False,
) -> dict[int, Via]:
    """The witnesses of nodes at one distance from the root, by id; `by_owner`: of jobs that assert edges there."""
    found: dict[int, Via] = {}
    begin, end = (side(taken, depth, key=attrgetter("depth")) for side in (bisect_left, bisect_right))
    for one in taken[begin:end]:
        ends = one.owner if by_owner else one.far
        rows = np.flatnonzero(contains(places, ends))
        ids = (adjacency.ids if by_owner else adjacency.canonical_ids)(ends[rows])
        for id_, via in zip(ids.tolist(), _candidates(adjacency, one, direction, rows), strict=True):
            found[id_] = min(found.get(id_, via), via)
    return found


def _candidates(adjacency: Adjacency, taken: TakenEdges, direction: Direction, rows: Ints) -> Iterator[Via]:
    ids, owners = adjacency.canonical_ids, adjacency.ids(taken.owner[rows])
    columns = (ids(taken.near[rows]), ids(taken.far[rows]), owners, ids(taken.parent[rows]), taken.rank[rows])
    for near, far, owner, parent, rank in zip(*(one.tolist() for one in columns), strict=True):
        ends = (far, near) if direction is Direction.UPSTREAM else (near, far)
        yield Via((rank >> 1, bool(rank & 1)), parent, Link(*ends, owner))
