"""Facets of datasets and jobs, schemas, tags, and versions of a job's lineage; and search of names."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, String, and_, func, literal, select, union_all
from sqlalchemy import literal_column as literally

from whence.model.catalog import (
    Entry,
    FacetRecord,
    NameSearch,
    SchemaRecord,
    TagCount,
    VersionRecord,
    Window,
    sorted_distinct,
)
from whence.model.ids import Kind
from whence.openlineage.facets.steward_tags import TAG_FACETS, TAGS, merge_tags
from whence.store.catalog.listings import Scope, entry, in_namespace, in_scope, is_alive, listed, table_of
from whence.store.catalog.name_patterns import ESCAPE
from whence.store.encryption.keyring import keys_in, open_payload
from whence.store.graph import history as graph_history
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import facet, facet_body, schema_body, schema_version, statement


def read_facets(
    connection: Connection, ids: Iterable[int], names: Sequence[str]
) -> Mapping[int, Mapping[str, FacetRecord]]:
    """The facets of each dataset or job, without deleted ones. A steward's tags are among the tags."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(ids)])
    same_facet = and_(facet.c.subject_id == facet_body.c.subject_id, facet.c.name == facet_body.c.name)
    sought = [*names, *TAG_FACETS[1:]] if TAGS in names else names
    query = (
        select(facet_body.c.subject_id, facet_body.c.name, facet_body.c.payload, facet.c.time)
        .join(wanted, wanted.c.id == facet_body.c.subject_id)
        .join(facet, same_facet)
        .where(facet_body.c.payload != "", *([facet_body.c.name.in_(sought)] if names else []))
        .order_by(facet_body.c.subject_id, facet_body.c.name)
    )
    find = keys_in(connection)
    found: dict[int, dict[str, FacetRecord]] = {}
    for subject, name, payload, time in connection.execute(query).all():
        found.setdefault(subject, {})[name] = FacetRecord(open_payload(find, subject, name, payload), time)
    return {subject: _with_all_tags(facets) for subject, facets in found.items()}


def _with_all_tags(facets: dict[str, FacetRecord]) -> Mapping[str, FacetRecord]:
    parts = [facets.pop(name) for name in TAG_FACETS if name in facets]
    if not parts:
        return facets
    tags = FacetRecord(merge_tags(*(one.payload for one in parts)), max(one.time for one in parts))
    return dict(sorted({**facets, TAGS: tags}.items()))


def read_schemas(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
    """The schemas of each dataset, newest first."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(dataset_ids)])
    same_body = and_(
        schema_body.c.dataset_id == schema_version.c.dataset_id, schema_body.c.body_id == schema_version.c.body_id
    )
    query = (
        select(schema_version, schema_body.c.payload)
        .join(wanted, wanted.c.id == schema_version.c.dataset_id)
        .join(schema_body, same_body)
        .order_by(schema_version.c.first_time.desc(), schema_version.c.body_id)
    )
    found: dict[int, list[SchemaRecord]] = {}
    for row in connection.execute(query):
        record = SchemaRecord(row.body_id, row.payload, row.first_time, row.last_time)
        found.setdefault(row.dataset_id, []).append(record)
    return found


def read_versions(connection: Connection, job_id: int) -> Sequence[VersionRecord]:
    """The lineage versions that a job asserted, newest first."""
    first, last = func.min(statement.c.at), func.max(statement.c.at)
    query = (
        select(statement.c.own_version, first.label("first"), last.label("last"))
        .where(statement.c.owner_id == job_id, statement.c.own_version != 0)
        .group_by(statement.c.own_version)
        .order_by(last.desc(), statement.c.own_version)
    )
    return [VersionRecord(row.own_version, row.first, row.last) for row in connection.execute(query)]


def find_carriers(connection: Connection, name: str) -> Sequence[int]:
    """The ids of the datasets and jobs that have a facet with this name."""
    query = select(facet_body.c.subject_id).where(_is_named(name), facet_body.c.payload != "")
    return connection.execute(query.order_by(facet_body.c.subject_id)).scalars().all()


def count_tags(connection: Connection) -> Sequence[TagCount]:
    """Every tag in use, by name."""
    uses = Counter[str]()
    for _, payload in read_tags(connection):
        uses.update({str(tag["key"]) for tag in tags_in(payload)})
    return [TagCount(name, uses[name]) for name in sorted(uses)]


def find_tagged(connection: Connection, tag: str, limit: int) -> Sequence[int]:
    """The ids of nodes with a tag."""
    found = (
        subject
        for subject, payload in sorted(read_tags(connection))
        if any(one["key"] == tag for one in tags_in(payload))
    )
    return [subject for subject, _ in zip(found, range(limit), strict=False)]


def tags_in(payload: str) -> list[dict[str, Any]]:
    """The entries of a tags facet that have a key."""
    entries = json.loads(payload).get("tags") if payload else None
    some = entries if isinstance(entries, list) else []
    return [one for one in some if isinstance(one, dict) and isinstance(one.get("key"), str) and one["key"]]


def read_tags(connection: Connection, at: int | None = None) -> Iterable[tuple[int, str]]:
    """The tags facets at a time (µs), None: now, by their dataset or job, with the tags that only stewards assign."""
    if at is None:
        parts = [_payloads_of(connection, name) for name in TAG_FACETS]
    else:
        rows = graph_history.read_tags(connection, graph_history.list_tagged(connection), at)
        parts = [{row.subject_id: row.payload for row in rows if row.name == one} for one in TAG_FACETS]
    subjects = dict.fromkeys(subject for part in parts for subject in part)
    return [(subject, merge_tags(*(part.get(subject, "") for part in parts))) for subject in subjects]


def find_names(
    connection: Connection, sought: NameSearch, window: Window, scope: Scope = None
) -> tuple[Sequence[Entry], int]:
    """A page of the datasets and jobs whose names contain a text, and their total, in one pass."""
    found = union_all(*(_names_query(connection, kind, sought, scope) for kind in sought.kinds)).subquery()
    by_name = (found.c.name, found.c.namespace, found.c.kind)
    order = (found.c.last_seen.desc(), *by_name) if sought.latest else by_name
    query = select(found, func.count().over().label("total")).order_by(*order)
    rows = connection.execute(query.limit(window.limit).offset(window.offset)).all()
    if rows:
        return [entry(Kind(row.kind), row) for row in rows], rows[0].total
    return [], int(connection.execute(select(func.count()).select_from(found)).scalar_one())


def _payloads_of(connection: Connection, name: str) -> dict[int, str]:
    rows = connection.execute(select(facet_body.c.subject_id, facet_body.c.payload).where(_is_named(name)))
    return dict(map(tuple, rows))


def _is_named(name: str) -> ColumnElement[bool]:
    """Whether a facet has this name, one that the code knows: as literal text, so that the planner recognises the index
    of these rows alone.
    """
    return facet_body.c.name == literally(f"'{name}'")


def _names_query(connection: Connection, kind: int, sought: NameSearch, scope: Scope) -> Select[Any]:
    table = table_of(Kind(kind))
    text = sought.text.lower() if sought.text.isascii() else sought.text
    column = func.lower(table.c.name) if sought.text.isascii() else table.c.name
    escaped = text.replace(ESCAPE, ESCAPE * 2).replace("%", f"{ESCAPE}%").replace("_", f"{ESCAPE}_")
    query = select(table.c.id, table.c.namespace, table.c.name, table.c.first_seen, table.c.last_seen)
    query = query.add_columns(literal(int(kind)).label("kind"))
    query = query.where(column.like(literal(f"%{escaped}%", String), escape=ESCAPE), is_alive(table))
    query = query.where(*in_scope(connection, table, scope))
    query = query.where(listed(table) if sought.namespace is None else in_namespace(table, sought.namespace))
    if sought.after is not None:
        query = query.where(table.c.last_seen >= sought.after)
    return query if sought.before is None else query.where(table.c.last_seen < sought.before)
