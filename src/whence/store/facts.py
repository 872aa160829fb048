"""Merging a batch of facts into the store: all tables in one transaction, the edges of known sets left out."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, Engine, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.store.arrays import integers
from whence.store.engine import reading, writing
from whence.store.merge import Row, fold, upsert
from whence.store.tables import FACTS, lineage_edge, lineage_set, touched


class Facts(Protocol):
    """A batch of rows, in the tables' column order."""

    def rows(self, table: str) -> Sequence[Row]:
        """All rows for a table (`touched` among them)."""

    def edges(self, sets: AbstractSet[int]) -> Sequence[Row]:
        """The rows of `lineage_edge` of these sets."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Facts as plain lists, table by table."""

    tables: Mapping[str, Sequence[Row]]

    def rows(self, table: str) -> Sequence[Row]:
        return self.tables.get(table, ())

    def edges(self, sets: AbstractSet[int]) -> Sequence[Row]:
        return [row for row in self.rows(lineage_edge.name) if row[0] in sets]


def merge_facts(engine: Engine, facts: Facts) -> None:
    """Merge rows into every fact table. Raises CollisionError; then nothing of the batch is written."""
    folded = {table: fold(table, facts.rows(table.name)) for table in FACTS if table is not lineage_edge}
    said = {row[0] for row in folded[lineage_set]}
    folded[lineage_edge] = fold(lineage_edge, facts.edges(_unknown(engine, said)))
    # All that needs no lock is done: the transaction only writes.
    with writing(engine) as connection:
        for table in FACTS:
            upsert(connection, table, folded[table])
        _touch(connection, facts.rows(touched.name))


def _unknown(engine: Engine, sets: AbstractSet[int]) -> AbstractSet[int]:
    """A set and its edges are written together and never change: only the edges of unknown sets are rows to write."""
    with reading(engine) as connection:
        wanted = integers(connection, ("id",), [(one,) for one in sets])
        known = select(lineage_set.c.id).join(wanted, wanted.c.id == lineage_set.c.id)
        return sets - set(connection.execute(known).scalars())


def _touch(connection: Connection, rows: Sequence[Row]) -> None:
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    values = [{"statement_id": row[0], "key": row[1]} for row in dict.fromkeys(rows)]
    connection.execute(dialect.insert(touched).on_conflict_do_nothing(), values)
