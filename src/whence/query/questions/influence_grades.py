"""How a node is affected: by values of the root that flow into it, or by their influence on which values it has.

A node is as directly affected as the most direct way to it, and a way as its least direct edge. So this is not what
happens along the witness: the shortest way may be indirect, and a longer one direct.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.model.ids import Kind
from whence.query.ports.graph import Adjacency, Ints
from whence.query.traversal.index_sets import contains, joined
from whence.query.traversal.traversal import Traversal


class Influence(StrEnum):
    """How directly a node is affected, the most direct first."""

    DIRECT = "DIRECT"
    """Values flow into it."""
    UNKNOWN = "UNKNOWN"
    """An edge on every way that is not indirect has no type: values may flow into it."""
    INDIRECT = "INDIRECT"
    """Every way has an indirect edge: a filter, a join key, a sort."""


_GRADES = (Influence.DIRECT, Influence.UNKNOWN)
"""By the rank of an edge (`Adjacency.edges`), halved. All that is left is indirect."""


class _Edges(NamedTuple):
    near: Ints
    far: Ints
    owner: Ints
    grade: Ints


@dataclass(frozen=True, slots=True)
class Influences:
    """The influence on every node that a traversal reached, and on the jobs that assert its edges. `reached`: by grade,
    the ids that are affected at least so directly, ascending.
    """

    reached: tuple[Ints, ...]

    def of(self, ids: Sequence[int] | Ints) -> list[Influence]:
        """The influence on each of these nodes."""
        return [tuple(Influence)[grade] for grade in self._grades(ids).tolist()]

    def count(self, ids: Ints) -> dict[Influence, int]:
        """How many of these nodes are affected how; without those of which there are none."""
        counts = np.bincount(self._grades(ids), minlength=len(Influence))
        return {one: number for one, number in zip(Influence, counts.tolist(), strict=True) if number}

    def _grades(self, ids: Sequence[int] | Ints) -> Ints:
        wanted = np.array(ids, np.int64)
        grades = np.full(len(wanted), len(self.reached), np.int64)
        for grade in reversed(range(len(self.reached))):
            grades[contains(self.reached[grade], wanted)] = grade
        return grades


def grade_influences(walk: Traversal) -> Influences:
    """The influences of a traversal's root."""
    edges = _taken_edges(walk)
    root = walk.places_of([walk.root])
    return Influences(tuple(_find_reached(walk.adjacency, edges, root, grade) for grade in range(len(_GRADES))))


def _taken_edges(walk: Traversal) -> _Edges:
    taken = walk.taken
    columns = [[one.near for one in taken], [one.far for one in taken], [one.owner for one in taken]]
    near, far, owner = (np.concatenate([*some, walk.places[:0]]) for some in columns)
    rank = np.concatenate([*(one.rank for one in taken), walk.places[:0]])
    kinds = walk.adjacency.kinds
    # The type of an edge with a job at an end is never known: a job reads and writes values.
    of_job = (kinds(near) == Kind.JOB) | (kinds(far) == Kind.JOB)
    return _Edges(near, far, owner, np.where(of_job, 0, rank >> 1))


def _find_reached(adjacency: Adjacency, edges: _Edges, root: Ints, grade: int) -> Ints:
    """The nodes that edges of at most this grade reach from the root, and the owners of these edges."""
    count = adjacency.count
    reached, with_reached_field = np.zeros(count, bool), np.zeros(count, bool)
    left = np.flatnonzero(edges.grade <= grade)
    wholes = _canonical_subjects(adjacency, edges.near)
    found, owners = [new := root], [root[:0]]
    while len(new):
        reached[new] = with_reached_field[_canonical_subjects(adjacency, new)] = True
        near = edges.near[left]
        # A field asks at its dataset, too, and a dataset at its fields: as the search does.
        is_taken = reached[near] | reached[wholes[left]] | with_reached_field[near]
        taken, left = left[is_taken], left[~is_taken]
        owners.append(edges.owner[taken])
        new = joined([edges.far[taken]])
        new = new[~reached[new]]
        found.append(new)
    ids = [adjacency.canonical_ids(joined(found)), adjacency.ids(joined(owners))]
    return joined(ids)


def _canonical_subjects(adjacency: Adjacency, places: Ints) -> NDArray[np.int64]:
    """The canonical dataset of each dataset or field, and each job itself."""
    found = adjacency.datasets(places)
    return adjacency.canonical(np.where(found >= 0, found, places))
