"""TPC-DS (specification 3.2): its tables, its 103 queries, and for each query values that it asks for.

A query compares its columns with literals: those are the values of these columns, so that few rows meet its conditions.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from capture.sql.oracles.perturbation import Estate, Kind

_FOLDER = Path(__file__).parent
_KINDS = {
    "i": Kind("INTEGER", (1, 3, 7, 40)),
    "t": Kind("VARCHAR", ("x", "y", "z")),
    "d": Kind("DATE", (date(2000, 2, 3), date(2001, 4, 2), date(1999, 8, 5))),
}
_MET = {
    1: "28 40 49 65 66 78 80 81 93",
    2: "6 25 42 45 48 68 82 84 89",
    3: "15 79 83 23b",
    4: "43 53 62 87 92",
    5: "13 30 50 52 63 72 88 91",
    6: "14 26 55",
    7: "56",
    8: "24",
    9: "94",
    10: "2 16",
    11: "69",
    12: "85",
    14: "24b",
    15: "47",
    16: "74",
    17: "29",
    28: "11",
    29: "54 57",
    30: "21",
    45: "34",
    71: "73",
    221: "90",
}
SEEDS = {name: seed for seed, names in _MET.items() for name in names.split()}
"""Numbers of data whose rows meet the conditions of a query, where 0 is none."""
UNMET = frozenset(["4", "8", "31", "32", "37", "39", "44", "46", "58", "59", "64", "75", "14b", "39b"])
"""Queries for which no such data is known yet: they are read, and what little can be seen of them is checked."""
_FEWER = (
    (r"(count\(\*\)\s*>=?) *\d+", r"\1 0"),
    (r"2\.000/3\.000 AND 3\.000/2\.000", "0 AND 1000"),
    (r"cnt\s+BETWEEN \d+ AND \d+", "cnt BETWEEN 1 AND 50"),
)
_OWN_KEY = 0
"""The column of a dimension that is its key: the first."""
_FACTS = ("store_sales", "store_returns", "catalog_sales", "catalog_returns", "web_sales", "web_returns", "inventory")


@cache
def tables() -> dict[str, dict[str, str]]:
    """The kind of each column (`i` number, `t` text, `d` date), by table and name."""
    text = re.sub(r"\n  ", " ", (_FOLDER / "tpcds_tables.txt").read_text("utf-8").partition("\n")[2])
    found = {}
    for line in text.splitlines():
        table, _, columns = line.partition(": ")
        found[table] = dict(column.split() for column in columns.split(", "))
    return found


def columns() -> dict[str, tuple[str, ...]]:
    """The columns of each table, in order."""
    return {table: tuple(kinds) for table, kinds in tables().items()}


def types() -> dict[str, dict[str, str]]:
    """The types of the columns, by table."""
    return {table: {column: _KINDS[kind].sql for column, kind in kinds.items()} for table, kinds in tables().items()}


@cache
def queries() -> dict[str, str]:
    """The 103, by number; 14, 23, 24 and 39 have a second variant `b`."""
    parts = re.split(r"^-- (\d+b?)\n", (_FOLDER / "tpcds.sql").read_text("utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def with_few_rows(sql: str) -> str:
    """The query with parameters for small data: groups of ten and more rows are not there."""
    for pattern, fewer in _FEWER:
        sql = re.sub(pattern, fewer, sql, flags=re.IGNORECASE)
    return sql


def estate_of(name: str, seed: int, versions: Sequence[str] = (), base: Mapping[str, Kind] = _KINDS) -> Estate:
    """The tables that a query names, with the columns that it names, filled with what it asks for.

    `versions` of the query: what they name and ask for is there too. `base`: values of each kind of column.
    """
    texts, random = (queries()[name], *versions), Random(f"{name}:{seed}")
    sql, values, keys = "\n".join(texts), _compared(texts), random.choice((2, 3, 4, 10))
    first = random.random() < 0.5
    shown, kinds = {}, {}
    for table, of in tables().items():
        named = [column for place, column in enumerate(of) if place == _OWN_KEY or _names(sql, column)]
        if not _names(sql, table):
            continue
        shown[table] = tuple(named)
        for place, column in enumerate(named):
            own = place == _OWN_KEY and table not in _FACTS
            kinds[column] = _kind(random, column, base[of[column]], values.get(column, ()), own, keys, first)
    rows = {table: random.choice((8, 14, 30, 50)) if table in _FACTS else keys for table in shown}
    return Estate.of(shown, kinds, seed, plan=True, rows=rows)


def meets(estate: Estate, sql: str) -> bool:
    """Whether any row meets the query's conditions."""
    try:
        return estate.answers(sql)
    except duckdb.Error:
        return False


def _names(sql: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", sql, re.IGNORECASE) is not None


def _kind(random: Random, column: str, base: Kind, asked: tuple[Any, ...], own: bool, keys: int, first: bool) -> Kind:
    if own:
        return Kind("INTEGER", tuple(range(1, keys + 1)), nullable=False, serial=True)
    if column.endswith(("_sk", "_number")) and base.sql == "INTEGER":
        return Kind("INTEGER", tuple(range(1, keys + 1)))
    some = min(len(asked), random.choice((1, 2, 4)))
    # Conditions with OR go through the values of all columns alike: the first of each fit together.
    few = asked[:some] if first else random.sample(asked, some)
    common = [one for one in few for _ in range(3)]
    return base._replace(values=(*common, *base.values[: 1 if few else None]))


def _compared(texts: Sequence[str]) -> Mapping[str, tuple[Any, ...]]:
    """The literals that each column is compared with, by its name or what the query calls it."""
    found: dict[str, dict[Any, None]] = defaultdict(dict)
    for sql in texts:
        _add_compared(sqlglot.parse_one(sql, read="duckdb"), found)
    return {name: tuple(values) for name, values in found.items()}


def _add_compared(tree: exp.Expr, found: dict[str, dict[Any, None]]) -> None:
    called = {alias.alias: alias.this.name for alias in tree.find_all(exp.Alias) if isinstance(alias.this, exp.Column)}
    kinds = {column: kind for of in tables().values() for column, kind in of.items()}
    for predicate in tree.find_all(exp.Predicate):
        if predicate.find(exp.Select):
            continue
        for column in predicate.find_all(exp.Column):
            name = called.get(column.name, column.name)
            for value in _literals(predicate, kinds.get(name, "")):
                found[name][value] = None


def _literals(predicate: exp.Expr, kind: str) -> Iterator[Any]:
    parts = [literal for literal in predicate.find_all(exp.Literal) if not literal.find_ancestor(exp.Interval)]
    numbers = [_number(piece) for piece in parts if not piece.is_string]
    texts = [piece.name for piece in parts if piece.is_string]
    if kind == "i":
        yield from numbers
        yield sum(numbers)
        yield sum(numbers) // max(len(numbers), 1)
        yield from (number + 1 for number in numbers)
    elif kind == "t":
        yield from (text.replace("%", "") for text in texts)
    for text in texts if kind == "d" else ():
        day = date.fromisoformat("-".join(part.zfill(2) for part in text.split("-")))
        yield from (day, day + timedelta(days=7), day - timedelta(days=7))


def _number(literal: exp.Literal) -> int:
    return int(float(literal.name)) * (-1 if isinstance(literal.parent, exp.Neg) else 1)
