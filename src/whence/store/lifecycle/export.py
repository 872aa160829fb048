"""The store as relations that many processes read in ranges of ids, all from one snapshot.

Ids are hashes, so equal ranges have about equally many rows.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, exists, func, or_, select, text

from whence.model.blast_radius import COUNTED
from whence.model.catalog import REGISTRY
from whence.model.ids import EMPTY_VERSION
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.graph.blast_radius import blast_generation, blast_radius
from whence.store.schema.tables import (
    alias_group,
    containment,
    dataset,
    event,
    facet_body,
    facet_template,
    field,
    job,
    lineage_edge,
    lineage_set,
    lineage_version,
    progress,
    run,
    run_facets,
    validity_interval,
)

FETCHED = 5_000
"""Rows fetched at a time."""

_TOKEN = re.compile(r"[0-9A-Fa-f-]+")


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """A state of a store, for other processes: its URL, and PostgreSQL's name of the snapshot (else empty)."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows that are read in ranges of `key`, a 64-bit id."""

    key: ColumnElement[int]
    query: Select[Any]


@contextmanager
def export_snapshot(engine: Engine, scratch: Path) -> Iterator[StoreSnapshot]:
    """Export the current state of a store while the context is open: a PostgreSQL snapshot, or a copy of the SQLite
    file in the directory `scratch`.

    Writers continue meanwhile.
    """
    url = engine.url.render_as_string(hide_password=False)
    if engine.dialect.name == "sqlite":
        copy = scratch / "snapshot.db"
        _copy(Path(str(engine.url.database)), copy)
        yield StoreSnapshot(sqlite_url(copy), "")
        return
    with reading(engine) as connection:
        yield StoreSnapshot(url, connection.execute(select(func.pg_export_snapshot())).scalar_one())


@contextmanager
def open_snapshot(snapshot: StoreSnapshot) -> Iterator[Connection]:
    """Open a connection to the snapshot."""
    engine = open_store(snapshot.url)
    try:
        with reading(engine) as connection:
            if snapshot.token:
                assert _TOKEN.fullmatch(snapshot.token), snapshot.token
                connection.execute(text(f"SET TRANSACTION SNAPSHOT '{snapshot.token}'"))
            yield connection
    finally:
        engine.dispose()


def count_rows(connection: Connection, relation: Relation) -> int:
    """The approximate number of keys of a relation, which determines the number of ranges."""
    return connection.execute(select(func.count()).select_from(relation.key.table)).scalar_one()


def read_rows(connection: Connection, relation: Relation, low: int, high: int) -> Iterator[Sequence[Row[Any]]]:
    """Yield rows with low ≤ key ≤ high, some at a time."""
    streamed = connection.execution_options(stream_results=True, yield_per=FETCHED)
    return streamed.execute(relation.query.where(relation.key.between(low, high))).partitions(FETCHED)


def read_position(connection: Connection) -> dict[str, int]:
    """The progress of the snapshot, by lane."""
    return {row.name: row.position for row in connection.execute(select(progress))}


def _copy(store: Path, copy: Path) -> None:
    """Copy a store file as one transaction sees it: in one step of all pages."""
    with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


_FACETS = ("datasetType", "jobType", *TAG_FACETS, "whence_boundary", "whence_falsePositives")

_source_dataset, _target_dataset, _owner_dataset = dataset.alias(), dataset.alias(), dataset.alias()
_source_field, _target_field = field.alias(), field.alias()
_source_job, _target_job, _owner_job = job.alias(), job.alias(), job.alias()


def _container(bit: int) -> ColumnElement[Any]:
    """The run that contains this one as its parent (1) or root (2); the least id, should there be several."""
    found = select(func.min(containment.c.container_id)).where(
        containment.c.run_id == run.c.id, containment.c.relation.bitwise_and(bit) != 0
    )
    return found.scalar_subquery()


def _end(prefix: str, node: Any, of: Any, field_: Any, job_: Any) -> tuple[ColumnElement[Any], ...]:
    return (
        node.label(f"{prefix}_id"),
        of.c.id.label(f"{prefix}_dataset_id"),
        func.coalesce(of.c.namespace, job_.c.namespace).label(f"{prefix}_namespace"),
        func.coalesce(of.c.name, job_.c.name).label(f"{prefix}_name"),
        field_.c.name.label(f"{prefix}_field"),
    )


_SET_EDGES = (
    select(
        lineage_edge.c.set_id,
        lineage_edge.c.ordinal,
        *_end("source", lineage_edge.c.source_id, _source_dataset, _source_field, _source_job),
        *_end("target", lineage_edge.c.target_id, _target_dataset, _target_field, _target_job),
        lineage_set.c.owner_id,
        _owner_job.c.id.is_not(None).label("owned_by_job"),
        func.coalesce(_owner_job.c.namespace, _owner_dataset.c.namespace).label("owner_namespace"),
        func.coalesce(_owner_job.c.name, _owner_dataset.c.name).label("owner_name"),
        lineage_set.c.level,
        lineage_set.c.origin,
        lineage_edge.c.type,
        lineage_edge.c.subtype,
        lineage_edge.c.masking,
        lineage_edge.c.description,
    )
    .join(lineage_set, lineage_set.c.id == lineage_edge.c.set_id)
    .outerjoin(_source_dataset, _source_dataset.c.id == lineage_edge.c.source_dataset_id)
    .outerjoin(_source_field, _source_field.c.id == lineage_edge.c.source_id)
    .outerjoin(_source_job, _source_job.c.id == lineage_edge.c.source_id)
    .outerjoin(_target_dataset, _target_dataset.c.id == lineage_edge.c.target_dataset_id)
    .outerjoin(_target_field, _target_field.c.id == lineage_edge.c.target_id)
    .outerjoin(_target_job, _target_job.c.id == lineage_edge.c.target_id)
    .outerjoin(_owner_job, _owner_job.c.id == lineage_set.c.owner_id)
    .outerjoin(_owner_dataset, _owner_dataset.c.id == lineage_set.c.owner_id)
)

_HAS_RUN = exists().where(run.c.job_id == job.c.id, run.c.seen_from.is_not(None))
_HAS_EVENT = exists().where(event.c.subject_id == job.c.id)

_GENERATION = select(func.max(blast_generation.c.generation)).scalar_subquery()

RELATIONS: Mapping[str, Relation] = {
    "dataset": Relation(
        dataset.c.id,
        select(*dataset.c, func.coalesce(alias_group.c.representative_id, dataset.c.id).label("representative_id"))
        .outerjoin(alias_group, alias_group.c.dataset_id == dataset.c.id)
        .where(dataset.c.namespace != REGISTRY),
    ),
    "field": Relation(
        field.c.id,
        select(*field.c, dataset.c.namespace, dataset.c.name.label("dataset")).join(
            dataset, dataset.c.id == field.c.dataset_id
        ),
    ),
    "job": Relation(job.c.id, select(*job.c, or_(_HAS_RUN, _HAS_EVENT).label("reports"))),
    "run": Relation(
        run.c.id,
        select(
            *run.c,
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
            _container(1).label("parent_id"),
            _container(2).label("root_id"),
        ).join(job, job.c.id == run.c.job_id),
    ),
    "facet": Relation(
        facet_body.c.subject_id,
        select(facet_body.c.subject_id, facet_body.c.name, facet_body.c.payload).where(facet_body.c.name.in_(_FACETS)),
    ),
    "run_facets": Relation(
        run_facets.c.run_id,
        select(
            run_facets.c.run_id,
            run_facets.c.time,
            run_facets.c.template_id,
            run_facets.c.content,
            facet_template.c.content.label("template"),
        )
        .join(facet_template, facet_template.c.id == run_facets.c.template_id)
        .order_by(run_facets.c.run_id, run_facets.c.time, run_facets.c.rank, run_facets.c.event_id),
    ),
    "held_set": Relation(
        validity_interval.c.owner_id,
        select(
            validity_interval.c.owner_id,
            validity_interval.c.aspect,
            validity_interval.c.valid_from,
            validity_interval.c.valid_to,
            validity_interval.c.confirmed,
            lineage_version.c.set_id,
        )
        .join(lineage_version, lineage_version.c.id == validity_interval.c.version)
        .where(validity_interval.c.version != EMPTY_VERSION),
    ),
    "set_edge": Relation(lineage_edge.c.set_id, _SET_EDGES),
    "blast_radius": Relation(
        blast_radius.c.node_id,
        select(
            blast_radius.c.node_id,
            *(blast_radius.c[name] for name in COUNTED),
            blast_radius.c.estimated,
            blast_generation.c.error,
            blast_generation.c.computed_at,
        )
        .join(blast_generation, blast_generation.c.generation == blast_radius.c.generation)
        .where(blast_generation.c.generation == _GENERATION),
    ),
}
"""The relations by name. Rows with an id carry its names too, since their indexes are here."""
