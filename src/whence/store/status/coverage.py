"""Coverage of the datasets of each namespace: lineage, lineage of columns, owners, descriptions."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, and_, cast, exists, func, or_, select, tuple_

from whence.model.catalog import Entry, Window
from whence.model.ids import Kind
from whence.store.catalog.listings import entry, in_namespace, is_alive, listed
from whence.store.schema.columns import beginning
from whence.store.schema.tables import dataset, edge, facet_body, field


class NamespaceCoverage(NamedTuple):
    """A namespace: the number of its datasets, and of those with each fact."""

    namespace: str
    datasets: int
    lineage: int
    columns: int
    owner: int
    description: int


LACKING = ("lineage", "columns", "owner", "description")
"""The facts that a dataset may lack."""


def read_coverage(connection: Connection) -> Sequence[NamespaceCoverage]:
    """Every namespace with datasets, by name. Looks up each dataset in the index of edges: seconds for a million."""
    counted = [func.sum(cast(has_fact(what), Integer)) for what in LACKING]
    query = select(dataset.c.namespace, func.count(), *counted).where(listed(dataset), is_alive(dataset))
    rows = connection.execute(query.group_by(dataset.c.namespace).order_by(dataset.c.namespace))
    return [NamespaceCoverage(name, *map(int, counts)) for name, *counts in rows]


def list_lacking(connection: Connection, what: str, namespace: str | None, window: Window) -> Sequence[Entry]:
    """A page of the datasets that lack a fact, by name."""
    named = (beginning(dataset.c.namespace), beginning(dataset.c.name), dataset.c.id)
    own = listed(dataset) if namespace is None else in_namespace(dataset, namespace)
    columns = (dataset.c.id, dataset.c.namespace, dataset.c.name, dataset.c.first_seen, dataset.c.last_seen)
    query = select(*columns).where(own, is_alive(dataset), ~has_fact(what)).order_by(*named).limit(window.limit)
    if window.after is not None:
        query = query.where(tuple_(*named) > tuple_(*window.after))
    return [entry(Kind.DATASET, row) for row in connection.execute(query)]


def has_fact(what: str) -> ColumnElement[bool]:
    """Whether a dataset has a fact (`LACKING`, or `upstream`: a known origin of what others read from it)."""
    match what:
        case "upstream":
            unread = ~_is_end(edge.c.source_id)
            return or_(unread, _has_origin(), _has_facet_like("whence_boundary", '%"origin":true%'))
        case "lineage":
            return or_(_is_end(edge.c.source_id), _is_end(edge.c.target_id))
        case "columns":
            return or_(_has_field_at(edge.c.source_id), _has_field_at(edge.c.target_id))
        case "owner":
            return _has_facet_like("ownership", '%"name"%')
    return _has_facet_like("documentation", '%"description":"_%')


def _is_end(end: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the dataset is an end of an edge between two datasets."""
    between = and_(edge.c.source_dataset_id != 0, edge.c.target_dataset_id != 0)
    apart = edge.c.source_dataset_id != edge.c.target_dataset_id
    return exists(select(edge.c.owner_id).where(end == dataset.c.id, between, apart).correlate(dataset))


def _has_origin() -> ColumnElement[bool]:
    """Whether a job writes the dataset, or it is derived from another dataset."""
    into = and_(edge.c.target_dataset_id == dataset.c.id, edge.c.source_dataset_id != dataset.c.id)
    return exists(select(edge.c.owner_id).where(edge.c.target_id == dataset.c.id, into).correlate(dataset))


def _has_field_at(end: ColumnElement[int]) -> ColumnElement[bool]:
    of_it = select(field.c.id).join(edge, end == field.c.id).where(field.c.dataset_id == dataset.c.id)
    return exists(of_it.correlate(dataset))


def _has_facet_like(facet: str, pattern: str) -> ColumnElement[bool]:
    about = and_(facet_body.c.subject_id == dataset.c.id, facet_body.c.name == facet)
    subjects = select(facet_body.c.subject_id).where(about, facet_body.c.payload.like(pattern)).correlate(dataset)
    return exists(subjects)
