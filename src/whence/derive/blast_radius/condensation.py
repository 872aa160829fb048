"""Condensation of a digraph: each strongly connected component is one node, in layers whose edges only lead down."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from whence.derive.blast_radius.ragged_arrays import Ints, compute_offsets, distinct_pairs, expand_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Dag:
    """Components, numbered so that every edge leads to a lower number.

    `component` of each vertex; the successors of component c are `successors[bounds[c]:bounds[c + 1]]`; layer l is the
    components from `layers[l]` to `layers[l + 1]`: none of them has an edge to another of its layer. Layer 0 are the
    sinks, and in all others each component has a successor.
    """

    component: NDArray[np.int32]
    bounds: Ints
    successors: NDArray[np.int32]
    layers: Ints

    @property
    def size(self) -> int:
        """The number of components."""
        return len(self.bounds) - 1


def condense(vertices: int, source: Ints, target: Ints) -> Dag:
    """Condense a digraph over the vertices 0 … vertices - 1. Time and memory are linear in the graph, except for
    sorting.
    """
    source, target = distinct_pairs(source, target, vertices)
    count, label = _components(vertices, source, target)
    near, far = label[source], label[target]
    across = near != far
    near, far = distinct_pairs(near[across], far[across], count)
    layer = _layers(count, near, far)
    order = np.argsort(layer, kind="stable")
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    near, far = number[near], number[far]
    by_near = np.argsort(near, kind="stable")
    return Dag(
        component=number[label].astype(np.int32),
        bounds=compute_offsets(np.bincount(near, minlength=count)),
        successors=far[by_near].astype(np.int32),
        layers=compute_offsets(np.bincount(layer)),
    )


def _components(vertices: int, source: Ints, target: Ints) -> tuple[int, Ints]:
    if not vertices:
        return 0, np.empty(0, np.int64)
    bounds = compute_offsets(np.bincount(source, minlength=vertices))
    graph = csr_array((np.ones(len(target)), target, bounds), shape=(vertices, vertices))
    count, label = connected_components(graph, directed=True, connection="strong")
    return int(count), label.astype(np.int64)


def _layers(count: int, near: Ints, far: Ints) -> Ints:
    """The length of the longest path down from each component, by removing sinks repeatedly."""
    layer = np.zeros(count, np.int64)
    open_edges = np.bincount(near, minlength=count)
    by_far = np.argsort(far, kind="stable")
    callers, bounds = near[by_far], compute_offsets(np.bincount(far, minlength=count))
    sinks, depth = np.flatnonzero(open_edges == 0), 0
    while len(sinks):
        layer[sinks] = depth
        predecessors, removed_edges = np.unique(
            callers[expand_spans(bounds[sinks], bounds[sinks + 1] - bounds[sinks])], return_counts=True
        )
        open_edges[predecessors] -= removed_edges
        sinks, depth = predecessors[open_edges[predecessors] == 0], depth + 1
    return layer
