"""Facets of the registry's datasets with their producers: what a gate records."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, select, tuple_

from whence.model.catalog import REGISTRY, RegisteredFacet, RegisteredFilter
from whence.model.names import DatasetName
from whence.store.catalog.listings import in_namespace
from whence.store.encryption.keyring import keys_in, open_payload
from whence.store.schema.tables import dataset, event, facet, facet_body, producer


def list_registered_facets(connection: Connection, wanted: RegisteredFilter) -> Sequence[RegisteredFacet]:
    """The facets that a filter asks for, the latest first. Only those of the page are decrypted."""
    of_dataset = and_(facet.c.subject_id == dataset.c.id, facet.c.name == wanted.facet)
    body = and_(facet_body.c.subject_id == facet.c.subject_id, facet_body.c.name == facet.c.name)
    query = (
        select(dataset.c.id, dataset.c.name, facet.c.time, facet_body.c.payload, producer.c.uri)
        .join(facet, of_dataset)
        .join(facet_body, body)
        .join(event, event.c.id == facet.c.event_id)
        .join(producer, producer.c.id == event.c.producer_id)
        .where(in_namespace(dataset, REGISTRY), facet_body.c.payload != "", *_names(wanted))
        .order_by(facet.c.time.desc(), dataset.c.name.desc())
        .limit(wanted.limit)
    )
    if wanted.before is not None:
        query = query.where(tuple_(facet.c.time, dataset.c.name) < tuple_(*wanted.before))
    find = keys_in(connection)
    return [
        RegisteredFacet(
            DatasetName(REGISTRY, row.name), open_payload(find, row.id, wanted.facet, row.payload), row.time, row.uri
        )
        for row in connection.execute(query).all()
    ]


def _names(wanted: RegisteredFilter) -> list[ColumnElement[Any]]:
    begins = dataset.c.name.startswith(f"{wanted.kind}/{wanted.begins}", autoescape=True)
    return [begins, *([dataset.c.name.endswith(f"/{wanted.namespace}", autoescape=True)] if wanted.namespace else [])]
