"""The counted elements, and their places in a graph."""

from dataclasses import dataclass

import numpy as np

from whence.derive.blast_radius.condensation import Dag
from whence.derive.blast_radius.ragged_arrays import Ints, distinct_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """Pairs: `ids[element[i]]` is found at place `at[i]`. An element may be at several places, a place have several.

    Sorted by element.
    """

    ids: Ints
    element: Ints
    at: Ints


def elements(ids: Ints, at: Ints) -> Elements:
    """The elements of these pairs of id and place."""
    known, element = np.unique(ids, return_inverse=True)
    places = int(at.max()) + 1 if len(at) else 1
    element, at = distinct_pairs(element, at, places)
    return Elements(ids=known, element=element, at=at)


def chosen(among: Elements, ids: Ints) -> tuple[Ints, Ints]:
    """The ids and places of the elements that are in `ids`."""
    kept = np.isin(among.ids, ids)[among.element]
    return among.ids[among.element[kept]], among.at[kept]


def condensed(among: Elements, dag: Dag) -> Elements:
    """The elements at the components of their vertices."""
    element, at = distinct_pairs(among.element, dag.component[among.at].astype(np.int64), max(dag.size, 1))
    return Elements(ids=among.ids, element=element, at=at)
