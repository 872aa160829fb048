"""Grades passed on between all nodes of an estate at once: the same as `propagation.spread`, on arrays, without ways.

A row has the grades of one node, a column those of one kind of label. Nodes are indices.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Grades = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Flows:
    """Edges by index, with how much passes along each in each kind of label: one row of `widths` for each edge."""

    sources: Ints
    targets: Ints
    widths: Grades


def pass_on(starts: Grades, flows: Flows) -> Grades:
    """The highest grade with which any way reaches each node, where a way is as wide as its narrowest edge.

    Nodes of which a grade has risen pass it on until none rises: at most as often as there are grades.
    """
    order = np.argsort(flows.sources, kind="stable")
    targets, widths = flows.targets[order], flows.widths[order]
    first = np.searchsorted(flows.sources[order], np.arange(len(starts) + 1))
    grades = starts.copy()
    risen = np.flatnonzero(starts.any(axis=1))
    while len(risen):
        edges, counts = _edges_of(first, risen)
        carried = np.minimum(np.repeat(grades[risen], counts, axis=0), widths[edges])
        risen = _raise(grades, targets[edges], carried)
    return grades


def _edges_of(first: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """The indices of the edges that start at nodes, and how many each node has."""
    counts = first[nodes + 1] - first[nodes]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    return np.repeat(first[nodes], counts) + within, counts


def _raise(grades: Grades, targets: Ints, carried: Grades) -> Ints:
    """Raise the grades of targets to what edges carry to them; the nodes of which one has risen."""
    if not len(targets):
        return targets
    order = np.argsort(targets, kind="stable")
    nodes, starts = np.unique(targets[order], return_index=True)
    most = np.maximum(np.maximum.reduceat(carried[order], starts, axis=0), grades[nodes])
    has_risen = (most > grades[nodes]).any(axis=1)
    grades[nodes] = most
    return np.asarray(nodes[has_risen], np.int64)
