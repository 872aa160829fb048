"""Merging a batch of facts into the store: all tables in one transaction, what is surely there already left out."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Engine, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.store.arrays import integers
from whence.store.engine import writing
from whence.store.merge import Row, merge
from whence.store.tables import FACTS, lineage_set, touched

Facts = Mapping[str, Sequence[Row]]
"""Table name → rows in column order; `touched` among them."""


def merge_facts(engine: Engine, facts: Facts) -> None:
    """Merge rows into every fact table. Raises CollisionError; then nothing of the batch is written."""
    with writing(engine) as connection:
        new_edges = _edges_of_new_sets(connection, facts)
        for table in FACTS:
            merge(connection, table, new_edges if table.name == "lineage_edge" else facts.get(table.name, ()))
        _touch(connection, facts.get("touched", ()))


def _edges_of_new_sets(connection: Connection, facts: Facts) -> list[Row]:
    """A set and its edges are written together and never change: only the edges of unknown sets are rows to write."""
    said = {row[0] for row in facts.get("lineage_set", ())}
    wanted = integers(connection, ("id",), [(one,) for one in said])
    known = set(connection.execute(select(lineage_set.c.id).join(wanted, wanted.c.id == lineage_set.c.id)).scalars())
    return [row for row in facts.get("lineage_edge", ()) if row[0] not in known]


def _touch(connection: Connection, rows: Sequence[Row]) -> None:
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    values = [{"statement_id": id_, "key": key} for id_, key in dict(rows).items()]
    connection.execute(dialect.insert(touched).on_conflict_do_nothing(), values)
