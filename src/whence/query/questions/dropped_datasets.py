"""Whether the dataset that a question is about was dropped or renamed (docs/explanation/state.md)."""

from typing import Protocol

from whence.model.ids import node_id
from whence.model.names import Node
from whence.query.answers.values import dataset_of


class DroppedDatasets(Protocol):
    """A graph that knows which datasets were dropped."""

    def dropped_at(self, dataset_id: int, at: int | None) -> int | None:
        """When a dataset was dropped (µs), by any of its names, if it was by `at` (None: now); None if it was not."""
        ...


def dropped_at(graph: DroppedDatasets, node: Node, at: int | None) -> int | None:
    """When the dataset that a node is or belongs to was dropped (µs), if it was by `at`; None if not, or for a job."""
    dataset = dataset_of(node)
    return graph.dropped_at(node_id(dataset), at) if dataset else None
