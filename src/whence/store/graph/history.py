"""Queries of the past: validity intervals, the content of lineage sets, schemas, tags, and owners."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Select, and_, func, or_, select

from whence.model.graph import ALL_TIME, FOREVER, HeldFacetRow, HeldRow, SchemaRow, SetEdge, SpanRow
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.store.graph.edges import opened
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import (
    lineage_edge,
    lineage_set,
    lineage_version,
    schema_body,
    schema_version,
    tag_body,
    tag_report,
    validity_interval,
)


def read_owners(connection: Connection, ids: Iterable[int]) -> Sequence[int]:
    """The owners that ever asserted an edge that ends at one of these nodes."""
    asserted = select(lineage_edge.c.set_id).distinct().where(lineage_edge.c.target_id.in_(_ids(connection, ids)))
    # Not one query, and not DISTINCT: SQLite's planner may scan all sets by owner when statistics show that they are
    # few.
    sets = connection.execute(asserted).scalars().all()
    query = select(lineage_set.c.owner_id).where(lineage_set.c.id.in_(_ids(connection, sets)))
    return sorted(set(connection.execute(query).scalars()))


def read_spans(connection: Connection, owner_ids: Iterable[int]) -> Sequence[SpanRow]:
    """All validity intervals of these owners, by owner, aspect and time."""
    query = select(*(validity_interval.c[name] for name in SpanRow._fields)).where(
        validity_interval.c.owner_id.in_(_ids(connection, owner_ids))
    )
    return sorted(SpanRow._make(row) for row in connection.execute(query))


def read_versions(connection: Connection, ids: Iterable[int]) -> Mapping[int, tuple[int, ...]]:
    """The lineage sets of each version."""
    query = select(lineage_version.c.id, lineage_version.c.set_id).where(
        lineage_version.c.id.in_(_ids(connection, ids))
    )
    found: dict[int, list[int]] = {}
    for id_, set_id in connection.execute(query):
        found.setdefault(id_, []).append(set_id)
    return {id_: tuple(sorted(sets)) for id_, sets in found.items()}


def read_content(connection: Connection, set_ids: Iterable[int]) -> Sequence[SetEdge]:
    """The edges of lineage sets."""
    columns = [lineage_edge.c[name] for name in SetEdge._fields]
    query = select(*columns).where(lineage_edge.c.set_id.in_(_ids(connection, set_ids)))
    return opened(connection, map(SetEdge._make, connection.execute(query).all()))


def read_changed(connection: Connection, since: int, until: int) -> Sequence[int]:
    """Owners with a validity interval that began or ended after `since`, and not after `until`."""
    began = and_(validity_interval.c.valid_from > since, validity_interval.c.valid_from <= until)
    ended = and_(validity_interval.c.valid_to > since, validity_interval.c.valid_to <= until)
    return sorted(
        connection.execute(select(validity_interval.c.owner_id).distinct().where(or_(began, ended))).scalars()
    )


def read_held(connection: Connection, at: int | None, owner_ids: Iterable[int] | None) -> Sequence[HeldRow]:
    """The lineage sets that are valid now or at a time, of some owners or of all."""
    time = FOREVER - 1 if at is None else at
    query = (
        select(validity_interval.c.owner_id, lineage_version.c.set_id)
        .distinct()
        .join_from(validity_interval, lineage_version, lineage_version.c.id == validity_interval.c.version)
        .where(validity_interval.c.valid_from <= time, validity_interval.c.valid_to > time)
    )
    if owner_ids is not None:
        query = query.where(validity_interval.c.owner_id.in_(_ids(connection, owner_ids)))
    return [HeldRow._make(row) for row in connection.execute(query)]


def read_present(connection: Connection, ids: Iterable[int], at: int | None) -> set[int]:
    """Which of the nodes have an edge that is valid now, or at a time."""
    time = FOREVER - 1 if at is None else at
    wanted = integers(connection, ("id",), [(id_,) for id_ in ids])
    found: set[int] = set()
    for end in (lineage_edge.c.source_id, lineage_edge.c.target_id):
        query = (
            select(wanted.c.id)
            .distinct()
            .join(lineage_edge, end == wanted.c.id)
            .join(lineage_version, lineage_version.c.set_id == lineage_edge.c.set_id)
            .join(
                validity_interval,
                and_(
                    validity_interval.c.version == lineage_version.c.id,
                    validity_interval.c.valid_from <= time,
                    validity_interval.c.valid_to > time,
                ),
            )
        )
        found |= set(connection.execute(query).scalars())
    return found


def read_schemas(connection: Connection, dataset_ids: Iterable[int]) -> Sequence[SchemaRow]:
    """Every reported schema of these datasets, the oldest first."""
    wanted = _ids(connection, dataset_ids)
    query = _schemas().where(schema_version.c.dataset_id.in_(wanted))
    return sorted(
        (SchemaRow._make(row) for row in connection.execute(query)),
        key=lambda row: (row.dataset_id, row.first_time, row.body_id),
    )


def read_described(connection: Connection, since: int | None) -> Sequence[int]:
    """Datasets whose schema may have changed after a time: the first was reported later, or there are several.

    With None, all datasets that have a schema.
    """
    query = select(schema_version.c.dataset_id).group_by(schema_version.c.dataset_id)
    if since is not None and since != ALL_TIME:
        query = query.having(or_(func.count() > 1, func.min(schema_version.c.first_time) > since))
    return sorted(connection.execute(query).scalars())


def read_tags(connection: Connection, ids: Iterable[int], at: int) -> Sequence[HeldFacetRow]:
    """The tags facets of datasets and jobs at a time (µs); deleted ones are left out."""
    wanted = integers(connection, ("id",), [(id_,) for id_ in ids])
    found: list[HeldFacetRow] = []
    for place, name in enumerate(TAG_FACETS):
        of_subject = (tag_report.c.subject_id == wanted.c.id, tag_report.c.facet == place, tag_report.c.time <= at)
        newest = (tag_report.c.time.desc(), tag_report.c.rank.desc(), tag_report.c.event_id.desc())
        last = select(tag_report.c.body_id).where(*of_subject).order_by(*newest).limit(1).correlate(wanted)
        key = zip(tag_body.primary_key.columns, (wanted.c.id, place, last.scalar_subquery()), strict=True)
        query = select(tag_body.c.subject_id, tag_body.c.payload).select_from(wanted)
        query = query.join(tag_body, and_(*(column == value for column, value in key))).where(tag_body.c.payload != "")
        found += (HeldFacetRow(row.subject_id, name, row.payload) for row in connection.execute(query))
    return sorted(found)


def list_tagged(connection: Connection) -> Sequence[int]:
    """The datasets and jobs that ever had a tags facet."""
    return connection.execute(select(tag_body.c.subject_id).distinct().order_by(tag_body.c.subject_id)).scalars().all()


def _schemas() -> Select[tuple[int, ...]]:
    columns = [schema_version.c[name] for name in SchemaRow._fields if name != "payload"]
    same = and_(
        schema_body.c.dataset_id == schema_version.c.dataset_id, schema_body.c.body_id == schema_version.c.body_id
    )
    return select(*columns, schema_body.c.payload).join_from(schema_version, schema_body, same)


def _ids(connection: Connection, ids: Iterable[int]) -> Select[tuple[int]]:
    return select(integers(connection, ("id",), [(id_,) for id_ in ids]).c.id)
