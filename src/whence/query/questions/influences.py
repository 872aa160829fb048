"""Influence on a whole dataset (filters, joins, sort orders), as influence on each of its columns.

The store has one such edge for a dataset. Clients that support only columns get one for each column.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from whence.model.catalog import SchemaRecord
from whence.model.names import DatasetName, FieldName
from whence.openlineage.facets.schema_fields import parse_schema_fields
from whence.query.answers.values import AnswerEdge
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Past


def influence_of(edge: AnswerEdge) -> AnswerEdge | None:
    """The influence of a column on a whole dataset in an edge, or None if the edge has none."""
    if not (isinstance(edge.source, FieldName) and isinstance(edge.target, DatasetName)):
        return None
    indirect = tuple(one for one in edge.transformations if one.type == "INDIRECT")
    return replace(edge, transformations=indirect) if indirect else None


def columns_of(
    catalog: Catalog, graph: Past, names: Mapping[DatasetName, Sequence[int]], at: int | None
) -> Mapping[DatasetName, Sequence[str]]:
    """List the columns of datasets at a time (µs; None: now), sorted: those of the latest schema, and those with an
    edge.

    `names`: the ids of all names of each dataset.
    """
    datasets = {id_: of for of, ids in names.items() for id_ in ids}
    schemas = catalog.schemas(datasets)
    found = {of: _of_schema([one for id_ in ids for one in schemas.get(id_, ())], at) for of, ids in names.items()}
    others = [row for row in graph.fields(datasets) if row.name not in found[datasets[row.dataset_id]]]
    present = graph.present([row.id for row in others], at) if others else set()
    for row in others:
        if row.id in present:
            found[datasets[row.dataset_id]].add(row.name)
    return {of: sorted(columns) for of, columns in found.items()}


def _of_schema(schemas: Iterable[SchemaRecord], at: int | None) -> set[str]:
    reported = [one for one in schemas if at is None or one.first_time <= at]
    last = max(reported, key=lambda one: (one.last_time, one.first_time, one.body_id), default=None)
    return set() if last is None else {one.name for one in parse_schema_fields(last.payload)}
