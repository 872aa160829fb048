"""Whether the dataset in a question was dropped or renamed (docs/explanation/state.md)."""

from typing import Protocol

from whence.model.ids import node_id
from whence.model.names import Node
from whence.query.answers.values import dataset_of


class DroppedDatasets(Protocol):
    """A graph with the drops of datasets."""

    def dropped_at(self, dataset_id: int, at: int | None) -> int | None:
        """When a dataset was dropped (µs), under any of its names, not after `at` (None: now); None if it was not."""
        ...


def dropped_at(graph: DroppedDatasets, node: Node, at: int | None) -> int | None:
    """When the dataset of a node was dropped (µs), not after `at`; None if it was not, or for a job."""
    dataset = dataset_of(node)
    return graph.dropped_at(node_id(dataset), at) if dataset else None
