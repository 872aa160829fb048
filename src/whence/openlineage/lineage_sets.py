"""Lineage sets of one output from its edges, sorted and distinct (docs/state.md, "Lineage sets")."""

from collections.abc import Iterable, Iterator

from whence.model.lineage import Edge, Level, LineageSet, Origin
from whence.model.names import DatasetName, FieldName, Node


def set_levels(output: DatasetName, origin: Origin, edges: Iterable[Edge]) -> Iterator[LineageSet]:
    """The edges that name a field; and those that name none, joined by what follows from the former."""
    fine: list[Edge] = []
    coarse: list[Edge] = []
    for edge in edges:
        names_field = type(edge.source) is FieldName or type(edge.target) is FieldName
        (fine if names_field else coarse).append(edge)
    follow = {(_whole(edge.source), edge.type) for edge in fine}
    coarse += [Edge(source=source, target=output, type=kind) for source, kind in follow]
    if fine:
        yield lineage_set(output, Level.FIELD, origin, fine)
    if coarse:
        yield lineage_set(output, Level.DATASET, origin, coarse)


def lineage_set(output: DatasetName | None, level: Level, origin: Origin, edges: Iterable[Edge]) -> LineageSet:
    """The set of these edges."""
    distinct = {_texts(edge): edge for edge in edges}
    ordered = tuple([distinct[texts] for texts in sorted(distinct)])
    return LineageSet(output=output, level=level, origin=origin, edges=ordered)


def _texts(edge: Edge) -> tuple[str, ...]:
    masking = "masked" if edge.masking else ""
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, masking, edge.description)


def _whole(node: Node) -> Node:
    return node.dataset if isinstance(node, FieldName) else node
