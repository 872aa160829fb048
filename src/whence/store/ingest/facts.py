"""Merging of a batch of facts into the store: all tables in one transaction; known content is left out."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, and_, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.traits import TRAIT_FACETS
from whence.openlineage.facets.steward_tags import TAG_FACETS
from whence.store.connection.engine import reading
from whence.store.connection.transactions import transact
from whence.store.encryption.keyring import (
    seal_expressions,
    seal_measurements,
    seal_packs,
    seal_payloads,
    seal_templates,
    store_key,
)
from whence.store.encryption.master_key import DataKey
from whence.store.ingest.change_log import TRAITS, close_change_version, note_changes
from whence.store.ingest.duplicate_events import place_events
from whence.store.ingest.search_index import IndexedName, index_facet_words, index_names, missing_names
from whence.store.schema import tables
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.merge import Row, fold, insert_new, upsert
from whence.store.schema.packed import SchemaContent, SetContent

Pair = tuple[int, int]
FacetKey = tuple[int, str, int]
"""Subject, name, hash of the payload."""


class Facts(Protocol):
    """A batch of rows, in the tables' column order, and the content that some of them refer to."""

    def rows(self, table: str) -> Sequence[Row]:
        """All rows for a table (`touched` among them)."""

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        """The content of these lineage sets."""

    def schemas(self, keys: AbstractSet[Pair]) -> Mapping[Pair, SchemaContent]:
        """The content of these schema versions (dataset, hash of the payload)."""

    def payloads(self, keys: AbstractSet[FacetKey]) -> Mapping[FacetKey, str]:
        """The payloads of those of these facets that the batch has."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Facts that are plain rows, table by table, without content."""

    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)

    def rows(self, table: str) -> Sequence[Row]:
        return self.tables.get(table, ())

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        return {}

    def schemas(self, keys: AbstractSet[Pair]) -> Mapping[Pair, SchemaContent]:
        return {}

    def payloads(self, keys: AbstractSet[FacetKey]) -> Mapping[FacetKey, str]:
        return {}


def merge_facts(engine: Engine, facts: Facts) -> None:
    """Merge rows into every fact table.

    Raises CollisionError, or EncryptionError if the store is encrypted and its key is unavailable. Then nothing of the
    batch is written.
    """
    folded: dict[Table, Sequence[Row]] = {table: fold(table, facts.rows(table.name)) for table in _FOLDED}
    folded |= _content(engine, facts, folded)
    names = _new_names(engine, folded)
    # All work without locks is done before: the transaction only writes.
    transact(engine, partial(_write, facts, folded, names))


def _write(
    facts: Facts, folded: Mapping[Table, Sequence[Row]], names: Sequence[IndexedName], connection: Connection
) -> None:
    key = store_key(connection)  # read here, so that the store is not replaced between reading the key and sealing
    sealed = {
        tables.facet_template: seal_templates(key, folded[tables.facet_template]),
        tables.run_facets: seal_packs(key, folded[tables.run_facets]),
        tables.measurement: seal_measurements(key, folded[tables.measurement]),
        tables.lineage_edge: seal_expressions(key, folded[tables.lineage_edge]),
    }
    place_events(connection, facts.rows(tables.event.name), facts.rows(tables.receipt.name))
    for table in tables.FACTS:
        upsert(connection, table, sealed.get(table) or folded.get(table, ()))
    index_names(connection, names)
    _write_bodies(connection, facts, folded[tables.facet], key)
    insert_new(connection, tables.dirty_key, sorted(set(facts.rows(tables.dirty_key.name))))
    close_change_version(connection)


_OF_SETS = (tables.lineage_edge, tables.unreported_column, tables.lineage_version)
_CONTENT = (*_OF_SETS, tables.field, tables.schema_body, tables.tag_body)
_PLACED = (tables.event, tables.receipt)
_FOLDED = tuple(table for table in tables.FACTS if table not in (*_CONTENT, *_PLACED))


def _content(engine: Engine, facts: Facts, folded: Mapping[Table, Sequence[Row]]) -> dict[Table, Sequence[Row]]:
    """The rows of new content. Content is written together with its name and never changes, so known names have
    none.
    """
    set_keys = {(row[0],) for row in folded[tables.lineage_set]}
    schema_keys = {(row[0], row[1]) for row in folded[tables.schema_version]}
    tag_keys = {(row[0], row[1], row[-1]) for row in folded[tables.tag_report]}
    members = set(facts.rows(tables.lineage_version.name))
    with reading(engine) as connection:
        sets = set_keys - _known(connection, set_keys, tables.lineage_set.c.id)
        schemas = schema_keys - _known(connection, schema_keys, *tables.schema_version.primary_key.columns)
        versions = {(row[0],) for row in members}
        new_versions = versions - _known(connection, versions, tables.lineage_version.c.id)
        tags = tag_keys - _known(connection, tag_keys, *tables.tag_body.primary_key.columns)
    new_sets, new_schemas = facts.sets({one for (one,) in sets}), facts.schemas(schemas)
    fields = [row for set_ in new_sets.values() for row in set_.fields]
    fields += [row for schema in new_schemas.values() for row in schema.fields]
    return {
        tables.lineage_edge: fold(
            tables.lineage_edge, (row for lineage_set in new_sets.values() for row in lineage_set.edges)
        ),
        tables.unreported_column: fold(
            tables.unreported_column, (row for lineage_set in new_sets.values() for row in lineage_set.unreported)
        ),
        tables.field: fold(tables.field, fields),
        tables.schema_body: sorted((*key, one.payload) for key, one in new_schemas.items()),
        tables.lineage_version: sorted(row for row in members if (row[0],) in new_versions),
        tables.tag_body: _tag_bodies(facts, tags),
    }


def _tag_bodies(facts: Facts, keys: AbstractSet[Row]) -> Sequence[Row]:
    numbers = {name: number for number, name in enumerate(TAG_FACETS)}
    payloads = facts.payloads({(subject, TAG_FACETS[facet], body) for subject, facet, body in keys})
    return sorted((subject, numbers[name], body, payload) for (subject, name, body), payload in payloads.items())


def _new_names(engine: Engine, folded: Mapping[Table, Sequence[Row]]) -> Sequence[IndexedName]:
    with reading(engine) as connection:
        return missing_names(connection, [*folded[tables.dataset], *folded[tables.job]], folded[tables.field])


def _known(connection: Connection, keys: AbstractSet[Row], *columns: ColumnElement[int]) -> set[Row]:
    dialect, names = connection.dialect.name, tuple(f"k{place}" for place in range(len(columns)))
    found = connection.execute(_select_known(dialect, columns), giving(dialect, names, sorted(keys)))
    return {tuple(row) for row in found}


@cache
def _select_known(dialect: str, columns: tuple[ColumnElement[int], ...]) -> Select[*tuple[Any, ...]]:
    names = tuple(f"k{place}" for place in range(len(columns)))
    wanted = given(dialect, *names)
    same = and_(*(wanted.c[name] == column for name, column in zip(names, columns, strict=True)))
    return select(*columns).join(wanted, same).distinct()


def _write_bodies(connection: Connection, facts: Facts, facets: Sequence[Row], key: DataKey | None) -> None:
    """Write the payloads of the facets that now win over the stored ones."""
    dialect, body = connection.dialect.name, tables.facet_body
    subjects = giving(dialect, ("id",), sorted({(row[0],) for row in facets}))
    stale_keys = {(row[0], row[1], row[2]) for row in connection.execute(_select_stale_bodies(dialect), subjects)}
    changed = [(*which, payload) for which, payload in facts.payloads(stale_keys).items()]
    _replace(connection, body, seal_payloads(key, changed))
    index_facet_words(connection, changed)
    note_changes(connection, TRAITS, {subject for subject, name, *_ in changed if name in TRAIT_FACETS})


@cache
def _select_stale_bodies(dialect: str) -> Select[int, str, int]:
    """The facets of subjects whose stored payload is another one."""
    wanted = given(dialect, "id")
    head, body = tables.facet, tables.facet_body
    same = and_(body.c.subject_id == head.c.subject_id, body.c.name == head.c.name)
    stale = or_(body.c.body_id.is_(None), body.c.body_id != head.c.body_id)
    query = select(head.c.subject_id, head.c.name, head.c.body_id).join(wanted, wanted.c.id == head.c.subject_id)
    return query.outerjoin(body, same).where(stale)


def _replace(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    values = [dict(zip(table.columns.keys(), row, strict=True)) for row in sorted(rows)]
    if values:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        statement = dialect.insert(table)
        others = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
        keys = list(table.primary_key.columns)
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others), values)
