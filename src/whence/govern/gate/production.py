"""What the gate asks of the production graph: one port, which a server and a store answer alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from whence.govern.gate.impact import Facts
from whence.model.names import DatasetName, JobName, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """Data or influence flows from source to target, as `owner` says. `last_seen`: when it last said so (µs)."""

    source: Node
    target: Node
    owner: Node
    type: str = "DIRECT"
    last_seen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphGap:
    """`owner` reads `at` and does not report which columns; `targets` are the datasets that it writes from it."""

    at: Node
    owner: Node
    targets: tuple[DatasetName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """All that is downstream of a node, at the level of columns if the node is one. Names that the asker may not see
    are tokens. `stopped_by`: the budget that cut it. `aliases`: other names of datasets, by which code may know
    them, and the one that the edges have.
    """

    edges: tuple[GraphEdge, ...] = ()
    gaps: tuple[GraphGap, ...] = ()
    aliases: tuple[tuple[DatasetName, DatasetName], ...] = ()
    stopped_by: str = ""
    graph_version: str = ""


class Production(Protocol):
    """The graph of what ran."""

    def downstream(self, node: Node) -> Subgraph | None:
        """What is downstream of a node; None if no event has mentioned it."""
        ...

    def facts(self, nodes: Sequence[DatasetName | JobName]) -> Mapping[Node, Facts]:
        """What is asserted of datasets and jobs; those that nobody mentioned are left out."""
        ...
