"""What a head's code changes of the lineage: a value."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node

Names = Mapping[DatasetName, DatasetName]
"""The name that a graph gives to each dataset that code names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a head's code changes of the lineage. `gone`: sources and targets between which production's edges no longer
    count; `edges`: all that the head has instead.
    """

    gone: frozenset[tuple[Node, Node]] = frozenset()
    edges: tuple[Edge, ...] = ()

    @property
    def datasets(self) -> frozenset[DatasetName]:
        """All that it names."""
        pairs = (*self.gone, *((one.source, one.target) for one in self.edges))
        ends = (end.dataset if isinstance(end, FieldName) else end for pair in pairs for end in pair)
        return frozenset(one for one in ends if isinstance(one, DatasetName))

    def renamed(self, names: Names) -> "Proposal":
        """The same with the names of a graph."""
        return Proposal(
            gone=frozenset((_renamed(source, names), _renamed(target, names)) for source, target in self.gone),
            edges=tuple(
                replace(one, source=_renamed(one.source, names), target=_renamed(one.target, names))
                for one in self.edges
            ),
        )


NOTHING = Proposal()


def _renamed(node: Node, names: Names) -> Node:
    match node:
        case FieldName(dataset, field):
            return FieldName(names.get(dataset, dataset), field)
        case DatasetName():
            return names.get(node, node)
        case JobName():
            return node
