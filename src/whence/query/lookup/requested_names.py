"""Answers under the requested names: a dataset with several names appears under the one in the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import dataset_of

if TYPE_CHECKING:  # it needs numpy, which only the server has
    from whence.query.ports.graph import Graph, Names

RequestedNames = Mapping[DatasetName, DatasetName]
"""The representative of an alias group → the requested name."""


def requested_names(graph: Graph, nodes: Iterable[Node]) -> RequestedNames:
    """The requested datasets, and those of requested fields. Of two names of one dataset, the first by name."""
    datasets = sorted({of for node in nodes if (of := dataset_of(node))}, reverse=True)
    groups = graph.groups([node_id(of) for of in datasets])
    return {groups[id_][0]: of for of in datasets if (id_ := node_id(of)) in groups}


def under_requested_name(node: Node, names: RequestedNames) -> Node:
    """The node under the requested name."""
    match node:
        case FieldName(dataset, field):
            return FieldName(names[dataset], field) if dataset in names else node
        case DatasetName():
            return names.get(node, node)
        case _:
            return node


def known_field(graph: Graph | Names, field: FieldName) -> FieldName | None:
    """A column under the first name of its dataset under which events mention it, or None."""
    of = node_id(field.dataset)
    names = [FieldName(dataset, field.field) for dataset in graph.groups([of]).get(of, (field.dataset,))]
    known = graph.nodes([node_id(field), *map(node_id, names)])
    return next((name for name in (field, *names) if node_id(name) in known), None)
