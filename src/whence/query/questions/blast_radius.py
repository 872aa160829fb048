"""Lookup of precomputed blast radii (docs/explanation/blast-radius.md)."""

from typing import Any, Protocol

from whence.model.blast_radius import COUNTED, BlastRadius
from whence.model.ids import node_id
from whence.model.names import Node
from whence.query.answers.instants import iso
from whence.query.answers.values import dataset_of
from whence.query.ports.graph import Graph
from whence.query.traversal.representatives import Representatives


class Blasts(Graph, Protocol):
    """A graph with blast radii."""

    def blast(self, node_id: int) -> BlastRadius | None:
        """The blast radius of a canonical node; None if none is computed, or the node is newer."""
        ...


def blast_radius(graph: Blasts, node: Node) -> BlastRadius | None:
    """The blast radius of a node, by any of its names; None if none is computed, or the node is newer."""
    identity = Representatives(graph)
    dataset = dataset_of(node)
    of = node_id(dataset) if dataset else 0
    identity.learn([(of, of), (node_id(node), of)])
    return graph.blast(identity.canonical(node_id(node)))


def blast_document(radius: BlastRadius) -> dict[str, Any]:
    """As JSON: each count, exact or with its relative standard error."""
    counted = dict(zip(COUNTED, radius.counts, strict=True))
    return {
        **{
            name: {"count": count, "relative_error": radius.error if name in radius.estimated else 0.0}
            for name, count in counted.items()
        },
        "computed_at": iso(radius.computed_at),
        "current": radius.current,
    }
