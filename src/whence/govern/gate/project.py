"""The edges of a project's code, before a change and after it, as its own events report them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from whence.govern.gate.impact import subject_of
from whence.govern.gate.production import GraphEdge
from whence.govern.policies.proposal import Proposal
from whence.model.events import DatasetEvent
from whence.model.lineage import GAPS, Edge, Origin
from whence.model.names import FieldName, Node
from whence.openlineage.json.wire import Json
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets
from whence.openlineage.read import read_event

Pair = tuple[Node, Node]

_NO_LINEAGE = (Origin.BOUNDARY, *GAPS, Origin.DROPPED)
"""What a job reads and writes, and what is not known: no edge that leads further."""


@dataclass(frozen=True)
class Project:
    """A project at the base of a change, and at its head."""

    base: tuple[GraphEdge, ...] = ()
    head: tuple[GraphEdge, ...] = ()
    base_lineage: tuple[Edge, ...] = ()
    """The same edges with their transformations."""
    head_lineage: tuple[Edge, ...] = ()

    @property
    def proposal(self) -> Proposal:
        """What the head changes of the lineage: where an edge or its transformation differs."""
        before, after = _by_pair(self.base_lineage), _by_pair(self.head_lineage)
        differ = [pair for pair in {**before, **after} if before.get(pair) != after.get(pair)]
        edges = {edge: None for pair in differ for edge in sorted(after.get(pair, ()), key=repr)}
        return Proposal(gone=frozenset(pair for pair in differ if pair in before), edges=tuple(edges))

    def explains(self, edge: GraphEdge) -> bool:
        """Whether the code says which columns of one dataset make those of another one."""
        return (subject_of(edge.source), subject_of(edge.target)) in self._explained

    def is_replaced(self, edge: GraphEdge) -> bool:
        """Whether an edge of production comes from the base's code, and the head's no longer has it."""
        return (edge.source, edge.target) in self._gone

    @cached_property
    def _explained(self) -> frozenset[Pair]:
        return frozenset(
            (subject_of(edge.source), subject_of(edge.target))
            for edge in (*self.base, *self.head)
            if isinstance(edge.source, FieldName)
        )

    @cached_property
    def _gone(self) -> frozenset[Pair]:
        return frozenset(_pairs(self.base) - _pairs(self.head))


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEdges:
    """The edges of code, as the gate follows them, and with their transformations."""

    graph: tuple[GraphEdge, ...]
    lineage: tuple[Edge, ...]


def edges_of(events: Iterable[bytes | Json]) -> CodeEdges:
    """The edges that events report. Raises EventError for one that cannot be read."""
    found: dict[GraphEdge, None] = {}
    transformed: dict[Edge, None] = {}
    for body in events:
        event = read_event(body)
        owner = event.dataset.name if isinstance(event, DatasetEvent) else event.job.name
        for lineage in derive_lineage_sets(event):
            if lineage.origin in _NO_LINEAGE:
                continue
            for edge in lineage.edges:
                found[GraphEdge(source=edge.source, target=edge.target, owner=owner, type=edge.type)] = None
                transformed[edge] = None
    return CodeEdges(graph=tuple(found), lineage=tuple(transformed))


def project_of(base: Sequence[CodeEdges], head: Sequence[CodeEdges]) -> Project:
    """The project whose edges these parts of its code are."""
    return Project(
        base=tuple(edge for part in base for edge in part.graph),
        head=tuple(edge for part in head for edge in part.graph),
        base_lineage=tuple(edge for part in base for edge in part.lineage),
        head_lineage=tuple(edge for part in head for edge in part.lineage),
    )


def _by_pair(edges: Iterable[Edge]) -> Mapping[Pair, frozenset[Edge]]:
    found: dict[Pair, set[Edge]] = {}
    for edge in edges:
        found.setdefault((edge.source, edge.target), set()).add(edge)
    return {pair: frozenset(several) for pair, several in found.items()}


def _pairs(edges: Iterable[GraphEdge]) -> set[Pair]:
    """The ends of edges; of those between columns, the ends of the datasets too."""
    pairs: set[Pair] = set()
    for edge in edges:
        pairs.add((edge.source, edge.target))
        if isinstance(edge.source, FieldName) or isinstance(edge.target, FieldName):
            pairs.add((subject_of(edge.source), subject_of(edge.target)))
    return pairs
