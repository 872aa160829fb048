"""Columns of the tables. A fact's column carries its merge rule: the SQL upsert and the in-memory fold derive from one
declaration.

Rules (state.md): `key` and `identity` (equal or rejected), `min`, `max`, `or` (bits), and `latest`/`earliest`: columns
that belong together; the row with the largest/smallest tuple of them wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Computed,
    Index,
    Integer,
    SmallInteger,
    Table,
    func,
    literal_column,
    text,
)

from whence.model.catalog import SORT_PREFIX_LENGTH

Rule = Literal["key", "identity", "min", "max", "or", "latest", "earliest"]

Id = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit key. In SQLite it is the row id, which needs no index."""

COMPACT: dict[str, Any] = {"sqlite_with_rowid": False}
"""Options of tables with several key columns, or with indexes that contain the key: SQLite stores each row once, in the
tree of the key, and adds no row id to an index that has it as a column.
"""

_SOUGHT_FACETS = (
    ("facet_body_tags", "tags"),
    ("facet_body_steward_tags", "whence_stewardTags"),
    ("facet_body_assigned_tags", "whence_assignedTags"),
    ("facet_body_lifecycle", "whence_lifecycle"),
    ("facet_body_sql_comparison", "whence_sqlComparison"),
    ("facet_body_contract", "whence_contract"),
    ("facet_body_dbt", "whence_dbt"),
)
"""Index and facet."""


def fact_column(name: str, type_: Any, rule: Rule, **options: Any) -> Column[Any]:
    """A column of a fact table."""
    nullable = rule not in ("key", "identity") and bool(options.pop("nullable", False))
    primary = rule == "key"
    return Column(
        name, type_, info={"merge": rule}, nullable=nullable, primary_key=primary, autoincrement=False, **options
    )


def key_columns(*names: str) -> tuple[Column[Any], ...]:
    """The key of a fact table: 64-bit integers."""
    return tuple(fact_column(name, BigInteger, "key") for name in names)


def stamp_columns() -> tuple[Column[Any], ...]:
    """The event whose report of a facet wins: the latest, then that of the highest state rank."""
    return (
        fact_column("time", BigInteger, "latest"),
        fact_column("rank", SmallInteger, "latest"),
        fact_column("event_id", BigInteger, "latest"),
    )


def witness_columns() -> tuple[Column[Any], ...]:
    """The first and the last event that asserted the row."""
    return (
        fact_column("first_time", BigInteger, "earliest"),
        fact_column("first_event", BigInteger, "earliest"),
        fact_column("last_time", BigInteger, "latest"),
        fact_column("last_event", BigInteger, "latest"),
    )


def derived_column(name: str, type_: Any, expression: str) -> Column[Any]:
    """A column of a fact table that the database computes from the merged ones. It is never written."""
    return Column(name, type_, Computed(expression), info={"merge": "computed"})


def plain_column(name: str, type_: Any, *, primary_key: bool = False) -> Column[Any]:
    """A column of a table that is derived from facts."""
    return Column(name, type_, primary_key=primary_key, autoincrement=False, nullable=False)


def written_columns(table: Table) -> Sequence[Column[Any]]:
    """The columns that rows are written with, in order: all that the database does not compute."""
    return [column for column in table.columns if column.computed is None]


def merge_rules(table: Table) -> Mapping[str, Rule]:
    """Column name → merge rule of a fact table."""
    return {column.name: column.info["merge"] for column in written_columns(table)}


def indexes_of_facets() -> Iterator[Index]:
    """Indexes of the subjects of some facets, each of one facet, for searches by what the facet contains."""
    for index, name in _SOUGHT_FACETS:
        one = text(f"name = '{name}'")
        yield Index(index, "subject_id", sqlite_where=one, postgresql_where=one)


def beginning(column: Column[Any]) -> ColumnElement[str]:
    """The beginning of a name, by which names are sorted: an index of PostgreSQL cannot hold a text of any length."""
    return func.substr(column, literal_column("1"), literal_column(str(SORT_PREFIX_LENGTH)))
