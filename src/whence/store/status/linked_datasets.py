"""Datasets that were known at a time, and the lineage between them then."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, and_, select

from whence.model.names import DatasetName
from whence.store.catalog.listings import is_alive, listed
from whence.store.schema.tables import (
    alias_group,
    dataset,
    facet_body,
    lineage_edge,
    lineage_set,
    lineage_version,
    validity_interval,
)

_FIELD = "field"


class KnownDataset(NamedTuple):
    """A dataset that is not deleted now. `representative_id`: its own id if it has no alias; `first_seen` in µs."""

    id: int
    representative_id: int
    name: DatasetName
    first_seen: int


class Link(NamedTuple):
    """Lineage from one dataset to another. An id is 0 if that end is a job."""

    source_id: int
    target_id: int
    is_of_columns: bool


def list_known_datasets(connection: Connection, at: int) -> Sequence[KnownDataset]:
    """All datasets that events mentioned until a time (µs), by id, without those that are deleted now."""
    group = alias_group.c.representative_id
    query = (
        select(dataset.c.id, group, dataset.c.namespace, dataset.c.name, dataset.c.first_seen)
        .join_from(dataset, alias_group, alias_group.c.dataset_id == dataset.c.id, isouter=True)
        .where(listed(dataset), is_alive(dataset), dataset.c.first_seen <= at)
        .order_by(dataset.c.id)
    )
    return [
        KnownDataset(id_, id_ if first is None else first, DatasetName(namespace, name), seen)
        for id_, first, namespace, name, seen in connection.execute(query)
    ]


def read_links(connection: Connection, at: int) -> Sequence[Link]:
    """The lineage that held at a time (µs), each link once."""
    held = and_(validity_interval.c.valid_from <= at, validity_interval.c.valid_to > at)
    query = (
        select(lineage_edge.c.source_dataset_id, lineage_edge.c.target_dataset_id, lineage_set.c.level)
        .distinct()
        .join_from(validity_interval, lineage_version, lineage_version.c.id == validity_interval.c.version)
        .join(lineage_set, lineage_set.c.id == lineage_version.c.set_id)
        .join(lineage_edge, lineage_edge.c.set_id == lineage_set.c.id)
        .where(held)
    )
    return sorted(Link(source, target, level == _FIELD) for source, target, level in connection.execute(query))


def read_origins(connection: Connection) -> frozenset[int]:
    """The datasets that are asserted to be origins: nothing is upstream of them."""
    boundary = and_(facet_body.c.name == "whence_boundary", facet_body.c.payload.like('%"origin":true%'))
    return frozenset(connection.execute(select(facet_body.c.subject_id).where(boundary)).scalars())
