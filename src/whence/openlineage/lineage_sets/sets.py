"""Lineage sets of one output from its edges, sorted and distinct (docs/explanation/state.md, "Lineage sets")."""

from collections.abc import Iterable, Iterator

from whence.model.lineage import Edge, Level, LineageSet, Origin
from whence.model.names import DatasetName, FieldName, Node


def split_levels(output: DatasetName, origin: Origin, edges: Iterable[Edge]) -> Iterator[LineageSet]:
    """Split edges into the field-level set and the dataset-level set, which includes what the former implies."""
    field_edges: list[Edge] = []
    dataset_edges: list[Edge] = []
    for edge in edges:
        names_field = type(edge.source) is FieldName or type(edge.target) is FieldName
        (field_edges if names_field else dataset_edges).append(edge)
    implied = {(_dataset_or_job(edge.source), edge.type) for edge in field_edges}
    dataset_edges += [Edge(source=source, target=output, type=kind) for source, kind in implied]
    if field_edges:
        yield make_lineage_set(output, Level.FIELD, origin, field_edges)
    if dataset_edges:
        yield make_lineage_set(output, Level.DATASET, origin, dataset_edges)


def make_lineage_set(output: DatasetName | None, level: Level, origin: Origin, edges: Iterable[Edge]) -> LineageSet:
    """A lineage set of these edges, distinct and sorted."""
    distinct = {_texts(edge): edge for edge in edges}
    ordered = tuple([distinct[texts] for texts in sorted(distinct)])
    return LineageSet(output=output, level=level, origin=origin, edges=ordered)


def _texts(edge: Edge) -> tuple[str, ...]:
    masking = "masked" if edge.masking else ""
    return (str(edge.source), str(edge.target), edge.type, edge.subtype, masking, edge.description)


def _dataset_or_job(node: Node) -> Node:
    return node.dataset if isinstance(node, FieldName) else node
