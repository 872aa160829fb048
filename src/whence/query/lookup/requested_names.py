"""Answers in the names that were asked for: a thing that goes by several names goes by that of the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import dataset_of

if TYPE_CHECKING:  # it needs numpy, which only the server has
    from whence.query.ports.graph import Graph, Names

AskedNames = Mapping[DatasetName, DatasetName]
"""The name that represents a group of aliases → the name that was asked for."""


def asked_names(graph: Graph, asked: Iterable[Node]) -> AskedNames:
    """The datasets among what was asked for, also those of fields; of two names of one thing the first by name."""
    datasets = sorted({of for node in asked if (of := dataset_of(node))}, reverse=True)
    groups = graph.groups([node_id(of) for of in datasets])
    return {groups[id_][0]: of for of in datasets if (id_ := node_id(of)) in groups}


def as_asked(node: Node, names: AskedNames) -> Node:
    """The node by the name that was asked for."""
    match node:
        case FieldName(dataset, field):
            return FieldName(names[dataset], field) if dataset in names else node
        case DatasetName():
            return names.get(node, node)
        case _:
            return node


def known_field(graph: Graph | Names, field: FieldName) -> FieldName | None:
    """A column by the first name of its dataset under which events speak of it; None if they do not under any."""
    of = node_id(field.dataset)
    names = [FieldName(dataset, field.field) for dataset in graph.groups([of]).get(of, (field.dataset,))]
    known = graph.nodes([node_id(field), *map(node_id, names)])
    return next((name for name in (field, *names) if node_id(name) in known), None)
