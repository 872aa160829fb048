"""Merging of fact rows: the rules of `tables`, as a fold in memory and as SQL upserts.

A batch is first folded to one row per key (one upsert may touch a row only once), then merged by one statement per
table. Both derive from the columns' rules, so they cannot disagree.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Integer, Table, Text, and_, bindparam, case, func, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from whence.errors import CollisionError
from whence.store.schema.array_parameters import integer_array
from whence.store.schema.columns import merge_rules, written_columns

Row = tuple[Any, ...]
Columns = ReadOnlyColumnCollection[str, Any]
Changes = dict[str, ColumnElement[Any]]
Function = Callable[..., ColumnElement[Any]]
Insert = TypeVar("Insert", sqlite.Insert, postgresql.Insert)


def fold(table: Table, rows: Iterable[Row]) -> list[Row]:
    """Fold rows to one per key, sorted by key, so that two writers lock rows in one order. Rows are in column order."""
    keys = _positions(table, "key")
    combine = _combine(table)
    folded: dict[Row, Row] = {}
    for row in dict.fromkeys(rows):  # most rows of a batch equal another one
        key = tuple([row[place] for place in keys])
        known = folded.get(key)
        folded[key] = row if known is None else combine(known, row)
    return [folded[key] for key in sorted(folded)]


def merge(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Merge rows into a fact table. Raises CollisionError if a row has a known id but another identity."""
    upsert(connection, table, fold(table, rows))


def upsert(connection: Connection, table: Table, folded: Sequence[Row]) -> None:
    """Merge folded rows. Raises CollisionError."""
    if not folded:
        return
    try:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(_sqlite_upsert(table), list(folded))
        else:
            connection.execute(_postgres_upsert(table), _as_arrays(table, folded))
    except IntegrityError as error:
        raise CollisionError(table.name) from error


def insert_new(connection: Connection, table: Table, rows: Sequence[Row]) -> int:
    """Insert the rows whose key is new, and return their number. Rows are distinct and sorted by key."""
    if not rows:
        return 0
    if connection.dialect.name == "sqlite":
        return connection.exec_driver_sql(_sqlite_insert(table), list(rows)).rowcount
    return connection.execute(_postgres_insert(table).on_conflict_do_nothing(), _as_arrays(table, rows)).rowcount


def _as_arrays(table: Table, rows: Sequence[Row]) -> dict[str, Any]:
    columns = zip(written_columns(table), zip(*rows, strict=True), strict=True)
    return {
        column.name: integer_array(values) if isinstance(column.type, Integer) else list(values)
        for column, values in columns
    }


def _positions(table: Table, rule: str) -> list[int]:
    return [place for place, name in enumerate(merge_rules(table).values()) if name == rule]


@cache
def _combine(table: Table) -> Callable[[Row, Row], Row]:
    """The function that merges two rows of one key."""
    same = _getter(_positions(table, "identity"))
    single = [(place, _SINGLE[rule]) for place, rule in enumerate(merge_rules(table).values()) if rule in _SINGLE]
    groups = [(places, _getter(places), wins) for rule, wins in _GROUPED if (places := _positions(table, rule))]

    def combine(one: Row, other: Row) -> Row:
        if same(one) != same(other):
            raise CollisionError(table.name)
        out = list(one)
        for place, rule in single:
            out[place] = rule(one[place], other[place])
        for places, group, wins in groups:
            if wins(group(other), group(one)):
                for place in places:
                    out[place] = other[place]
        return tuple(out)

    return combine


_GROUPED: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (("latest", operator.gt), ("earliest", operator.lt))


def _getter(places: Sequence[int]) -> Callable[[Row], Any]:
    return operator.itemgetter(*places) if places else lambda _: None


def _ignoring_none(choose: Callable[[int, int], int]) -> Callable[[int | None, int | None], int | None]:
    def chosen(one: int | None, other: int | None) -> int | None:
        if one is None or other is None:
            return other if one is None else one
        return choose(one, other)

    return chosen


_SINGLE: dict[str, Callable[[Any, Any], Any]] = {
    "min": _ignoring_none(min),
    "max": _ignoring_none(max),
    "or": lambda a, b: a | b,
}


@cache
def _sqlite_upsert(table: Table) -> str:
    statement = sqlite.insert(table)
    return _qmark(_on_conflict(statement, _changes(table, statement.excluded, (func.min, func.max))), table)


@cache
def _sqlite_insert(table: Table) -> str:
    return _qmark(sqlite.insert(table).on_conflict_do_nothing(), table)


def _qmark(statement: sqlite.Insert, table: Table) -> str:
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="qmark"), column_keys=list(_written(table))))


def _written(table: Table) -> Sequence[str]:
    return [column.name for column in written_columns(table)]


@cache
def _postgres_insert(table: Table) -> postgresql.Insert:
    arrays = [func.unnest(_given_array(column)) for column in written_columns(table)]
    return postgresql.insert(table).from_select(_written(table), select(*arrays))


def _given_array(column: Column[Any]) -> ColumnElement[Any]:
    array = postgresql.ARRAY(column.type)
    if isinstance(column.type, Integer):
        return bindparam(column.name, type_=Text).cast(array)
    return bindparam(column.name, type_=array)


@cache
def _postgres_upsert(table: Table) -> postgresql.Insert:
    statement = _postgres_insert(table)
    return _on_conflict(statement, _changes(table, statement.excluded, (func.least, func.greatest)))


def _on_conflict(statement: Insert, changes: Changes) -> Insert:
    if not changes:
        return statement.on_conflict_do_nothing()
    keys = [column.name for column in statement.table.primary_key]
    return statement.on_conflict_do_update(index_elements=keys, set_=changes)


def _changes(table: Table, new: Columns, extremes: tuple[Function, Function]) -> Changes:
    changes: Changes = {}
    for column in written_columns(table):
        match column.info["merge"]:
            case "min":
                changes[column.name] = _extreme(extremes[0], column, new[column.name])
            case "max":
                changes[column.name] = _extreme(extremes[1], column, new[column.name])
            case "or":
                changes[column.name] = column.bitwise_or(new[column.name])
            case "latest":
                changes[column.name] = case(
                    (_group(table, new, "latest") > _group(table, table.c, "latest"), new[column.name]), else_=column
                )
            case "earliest":
                changes[column.name] = case(
                    (_group(table, new, "earliest") < _group(table, table.c, "earliest"), new[column.name]),
                    else_=column,
                )
    return _with_collision_guard(table, new, changes)


def _with_collision_guard(table: Table, new: Columns, changes: Changes) -> Changes:
    """Set a NOT NULL column to null where the identity differs, so that the database itself rejects the row."""
    identity = [table.c[name] == new[name] for name, rule in merge_rules(table).items() if rule == "identity"]
    guard = next((name for name in changes if not table.c[name].nullable), None)
    if identity and guard:
        changes[guard] = case((and_(*identity), changes[guard]), else_=None)
    return changes


def _extreme(function: Function, column: Column[Any], new: ColumnElement[Any]) -> ColumnElement[Any]:
    if not column.nullable:
        return function(column, new)
    return function(func.coalesce(column, new), func.coalesce(new, column))


def _group(table: Table, columns: Columns, rule: str) -> ColumnElement[Any]:
    return tuple_(*(columns[name] for name, column_rule in merge_rules(table).items() if column_rule == rule))
