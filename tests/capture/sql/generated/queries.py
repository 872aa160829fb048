"""Queries for DuckDB or Spark, one from each number: joins, subqueries, grouping, windows, CTEs, set operations.

All columns are whole numbers, and no query's result hangs on an order that it does not ask for.
"""

from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Literal

from capture.sql.generated.deep_queries import deep_item, deep_relation
from capture.sql.generated.query_parts import TABLES, Draw, Query, Relation

_WINDOWS = ("sum({})", "max({})", "min({})", "count({})", "avg({})")
_SCALARS = ("abs({})", "-{}", "CAST({} AS BIGINT)", "{} + {}", "coalesce({}, {})", "nullif({}, {})", "greatest({}, {})")
_SPARK_SCALARS = (*_SCALARS[:-1], "greatest(CAST({} AS DOUBLE), CAST({} AS DOUBLE))")


def query_of(seed: int, dialect: Literal["duckdb", "spark"] = "duckdb", deep: bool = False) -> str:
    """The query of a number, always the same. `deep`: also pivots, laterals, structs, recursion and the like."""
    draw = Draw(Random(seed), count(), dialect, deep)
    match draw.random.randrange(6):
        case 0:
            return _over_cte(draw)
        case 1:
            return _union(draw).sql
        case 2:
            return _set_operation(draw)
        case _:
            return _select(draw, depth=2 if draw.dialect == "duckdb" else 1).sql


def _over_cte(draw: Draw) -> str:
    name, inner = draw.name("q"), _select(draw, depth=1)
    if draw.chance(0.15):
        return f"WITH {name} AS ({inner.sql}) SELECT * FROM {name} WHERE {_comparison(draw, inner.columns)}"
    used = [Relation(f"{name} AS {alias}", alias, inner.columns) for alias in (draw.name("r"), draw.name("r"))]
    return f"WITH {name} AS ({inner.sql}) {_select(draw, 0, used[: draw.random.choice((1, 2))]).sql}"


def _union(draw: Draw) -> Query:
    left, right = _select(draw, 1, width=2), _select(draw, 1, width=2)
    return Query(f"{left.sql} UNION ALL {right.sql}", left.columns)


def _set_operation(draw: Draw) -> str:
    word = draw.one(("UNION", "EXCEPT", "INTERSECT"))
    return f"{_select(draw, 1, width=1).sql} {word} {_select(draw, 1, width=1).sql}"


def _select(draw: Draw, depth: int, given: Sequence[Relation] = (), width: int = 0) -> Query:
    widths = (1, 2, 2, 3) if draw.dialect == "duckdb" else (1, 1, 2)
    sources = list(given) or [_relation(draw, depth) for _ in range(draw.random.choice(widths))]
    tables, columns = _from(draw, sources), [column for source in sources for column in source.qualified]
    width = width or draw.random.choice((2, 3, 4))
    where = f" WHERE {_predicate(draw, columns)}" if draw.chance(0.5) else ""
    names = tuple(draw.name("c") for _ in range(width))
    if draw.chance(0.35):
        keys = draw.random.sample(columns, 1)
        items = [_grouped(draw, columns, keys, first=not place) for place in range(width)]
        tail = f" GROUP BY {', '.join(keys)}"
        tail += f" HAVING sum({draw.one(columns)}) > {draw.random.randrange(4)}" if draw.chance(0.3) else ""
    else:
        items, tail = [_item(draw, columns) for _ in names], _qualify(draw, columns)
        # An alias may be used by those after it; in DuckDB not that of a subquery.
        if width > 1 and "SELECT" not in items[0] and draw.chance(0.15):
            items[-1] = f"{names[0]} + {items[-1]}"
    shown = ", ".join(f"{item} AS {name}" for item, name in zip(items, names, strict=True))
    distinct = "DISTINCT " * draw.chance(0.08)
    return Query(f"SELECT {distinct}{shown} FROM {tables}{where}{tail}", names)


def _relation(draw: Draw, depth: int) -> Relation:
    alias = draw.name("r")
    if depth and draw.chance(0.3):
        inner = _union(draw) if draw.chance(0.2) else _select(draw, depth - 1)
        order = ", ".join(str(place + 1) for place in range(len(inner.columns)))
        cut = f" ORDER BY {order} LIMIT 7" if draw.chance(0.3) else ""
        return Relation(f"({inner.sql}{cut}) AS {alias}", alias, inner.columns)
    if draw.deep and depth and draw.chance(0.6 if draw.dialect == "duckdb" else 0.8):
        return deep_relation(draw, alias)
    table = draw.one(tuple(TABLES))
    return Relation(f"{table} AS {alias}", alias, TABLES[table])


def _from(draw: Draw, sources: Sequence[Relation]) -> str:
    first, *others = sources
    sql, columns = first.sql, list(first.qualified)
    for other in others:
        word = draw.one(("JOIN", "LEFT JOIN", "FULL JOIN"))
        shared = sorted({"id", "k"} & set(other.columns)) if other is others[0] else []
        if shared and shared[0] in first.columns and draw.chance(0.4):
            sql += f" {word} {other.sql} USING ({shared[0]})"
        else:
            sql += f" {word} {other.sql} ON {draw.one(columns)} = {draw.one(other.qualified)}"
        columns += other.qualified
    return sql


def _qualify(draw: Draw, columns: Sequence[str]) -> str:
    over = f"PARTITION BY {draw.one(columns)} ORDER BY {draw.one(columns)}"
    return f" QUALIFY rank() OVER ({over}) <= 2" if draw.chance(0.1) and draw.dialect == "duckdb" else ""


def _grouped(draw: Draw, columns: Sequence[str], keys: Sequence[str], first: bool) -> str:
    if first:
        return keys[0]
    aggregate = draw.one(_WINDOWS).format(_scalar(draw, columns))
    if draw.chance(0.25):
        aggregate += f" FILTER (WHERE {_comparison(draw, columns)})"
    return f"coalesce({aggregate}, 0)" if draw.chance(0.2) else aggregate


def _item(draw: Draw, columns: Sequence[str]) -> str:
    if draw.deep and draw.chance(0.4):
        return deep_item(draw, columns)
    match draw.random.randrange(8):
        case 0 | 1 | 2:
            return draw.one(columns)
        case 3:
            condition, then, other = _comparison(draw, columns), draw.one(columns), _scalar(draw, columns)
            return f"CASE WHEN {condition} THEN {then} ELSE {other} END"
        case 4:
            over = f"PARTITION BY {draw.one(columns)} ORDER BY {draw.one(columns)}"
            return f"{draw.one((*_WINDOWS, 'rank()', 'dense_rank()')).format(draw.one(columns))} OVER ({over})"
        case 5:
            return _scalar_subquery(draw, columns)
        case _:
            return _scalar(draw, columns)


def _scalar(draw: Draw, columns: Sequence[str]) -> str:
    of = _SCALARS if draw.dialect == "duckdb" else _SPARK_SCALARS
    return f"({draw.one(of).format(draw.one(columns), draw.one(columns))})"


def _scalar_subquery(draw: Draw, columns: Sequence[str]) -> str:
    inner = _relation(draw, 0)
    shown = f"{draw.one(('max', 'sum', 'count'))}({draw.one(inner.qualified)})"
    return f"(SELECT {shown} FROM {inner.sql} WHERE {draw.one(inner.qualified)} = {draw.one(columns)})"


def _predicate(draw: Draw, columns: Sequence[str]) -> str:
    match draw.random.randrange(6):
        case 0:
            return f"{_comparison(draw, columns)} {draw.one(('AND', 'OR'))} {_comparison(draw, columns)}"
        case 1:
            inner = _relation(draw, 0)
            met = f"{draw.one(inner.qualified)} = {draw.one(columns)}"
            return f"{draw.one(('', 'NOT '))}EXISTS (SELECT 1 FROM {inner.sql} WHERE {met})"
        case 2:
            inner = _relation(draw, 0)
            kept = _comparison(draw, inner.qualified)
            return f"{draw.one(columns)} IN (SELECT {draw.one(inner.qualified)} FROM {inner.sql} WHERE {kept})"
        case 3:
            return f"{draw.one(columns)} <= {_scalar_subquery(draw, columns)}"
        case _:
            return _comparison(draw, columns)


def _comparison(draw: Draw, columns: Sequence[str]) -> str:
    left = draw.one(columns)
    return draw.one((f"{left} > {draw.random.randrange(4)}", f"{left} = {draw.one(columns)}", f"{left} IS NOT NULL"))
