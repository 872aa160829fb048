"""Counts of reached nodes by distance, kind and traits, without reading their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.ids import Kind
from whence.model.traits import NO_TRAITS, Traits
from whence.query.ports.graph import Ints
from whence.query.traversal.index_sets import distinct
from whence.query.traversal.traversal import Traversal


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """Nodes by distance; jobs that are or derive one of them; and nodes by kind and by traits. Where traits are not
    known, nodes are counted by the dataset of a field, or else by the node itself.
    """

    distances: Mapping[int, int]
    jobs: int
    known: Sequence[tuple[Kind, Traits, int]]
    unknown: Sequence[tuple[Kind, int, int]]


def count_nodes(walk: Traversal, ids: Ints) -> NodeCounts:
    """Count some of the reached nodes."""
    edges, places, kinds = walk.adjacency, walk.places_of(ids), ids & 3
    subjects = np.where(kinds == Kind.FIELD, edges.datasets(places), places)
    classes = edges.classes(subjects)
    is_known = classes >= -1
    known = _counted((classes[is_known] + 1) * 4 + kinds[is_known])
    unknown = _counted(subjects[~is_known] * 4 + kinds[~is_known])
    unknown_ids = edges.canonical_ids(np.array([one >> 2 for one in unknown], np.int64)).tolist()
    return NodeCounts(
        distances=_counted(walk.distances(ids)),
        jobs=len(walk.deriving_jobs(ids)),
        known=[
            (Kind(sort & 3), edges.traits((sort >> 2) - 1) if sort >> 2 else NO_TRAITS, number)
            for sort, number in known.items()
        ],
        unknown=[(Kind(one & 3), subject, unknown[one]) for one, subject in zip(unknown, unknown_ids, strict=True)],
    )


def _counted(numbers: Ints) -> dict[int, int]:
    found = distinct(numbers)
    counts = np.bincount(np.searchsorted(found, numbers), minlength=len(found))
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
