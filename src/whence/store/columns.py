"""Columns of the tables: a fact's carries its merge rule, so that the SQL upsert and the in-memory fold are made from
one declaration.

Rules (docs/state.md): `key` and `identity` (equal or refused), `min`, `max`, `or` (bits), and `latest`/`earliest`:
columns that travel together, the row with the largest/smallest tuple of them wins.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import BigInteger, Column, Computed, Integer, Table

Rule = Literal["key", "identity", "min", "max", "or", "latest", "earliest"]

Id = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit key: in SQLite the row's own number, so that it needs no index of its own."""

COMPACT: dict[str, Any] = {"sqlite_with_rowid": False}
"""Tables with several key columns: SQLite keeps the row in the key's own tree, once."""


def fact_column(name: str, type_: Any, rule: Rule, **options: Any) -> Column[Any]:
    """A column of a fact table."""
    nullable = rule not in ("key", "identity") and bool(options.pop("nullable", False))
    primary = rule == "key"
    return Column(
        name, type_, info={"merge": rule}, nullable=nullable, primary_key=primary, autoincrement=False, **options
    )


def witness_columns() -> tuple[Column[Any], ...]:
    """The first and the last event that said something."""
    return (
        fact_column("first_time", BigInteger, "earliest"),
        fact_column("first_event", BigInteger, "earliest"),
        fact_column("last_time", BigInteger, "latest"),
        fact_column("last_event", BigInteger, "latest"),
    )


def derived_column(name: str, type_: Any, expression: str) -> Column[Any]:
    """A column of a fact table that the database computes from the merged ones: it is never written."""
    return Column(name, type_, Computed(expression), info={"merge": "computed"})


def plain_column(name: str, type_: Any, *, primary_key: bool = False) -> Column[Any]:
    """A column of a table that is derived from facts."""
    return Column(name, type_, primary_key=primary_key, autoincrement=False, nullable=False)


def written_columns(table: Table) -> Sequence[Column[Any]]:
    """The columns of a table that rows are written with, in order: all that the database does not compute."""
    return [column for column in table.columns if column.computed is None]


def merge_rules(table: Table) -> Mapping[str, Rule]:
    """Column name → merge rule of a fact table."""
    return {column.name: column.info["merge"] for column in written_columns(table)}
