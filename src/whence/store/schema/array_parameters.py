"""Many rows of integers as one bound parameter: a table inside a query, so that one query serves a whole batch."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ARRAY, BigInteger, BindParameter, Connection, Subquery, Text, bindparam, func, select


def integers(connection: Connection, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> Subquery:
    """A subquery with the given integer columns, one row for each of `rows`."""
    if connection.dialect.name == "sqlite":
        return _from_json(columns, rows)
    lists = [[row[place] for row in rows] for place in range(len(columns))]
    return _unnested(columns, [bindparam(None, integer_array(values), type_=Text, unique=True) for values in lists])


def _from_json(columns: Sequence[str], rows: Sequence[Sequence[int]]) -> Subquery:
    return _json_table(columns, bindparam(None, _as_json(rows), unique=True))


def _json_table(columns: Sequence[str], text: BindParameter[str]) -> Subquery:
    each = func.json_each(text).table_valued("value")
    if len(columns) == 1:
        return select(each.c.value.label(columns[0])).subquery()
    values = [func.json_extract(each.c.value, f"$[{place}]").label(name) for place, name in enumerate(columns)]
    return select(*values).subquery()


def _as_json(rows: Sequence[Sequence[int]]) -> str:
    """Encode rows as JSON. Rows of one column become plain numbers, since SQLite would parse every inner array
    again.
    """
    numbers = [number for (number,) in rows] if rows and len(rows[0]) == 1 else rows
    return msgspec.json.encode(numbers).decode()


def given(dialect: str, *columns: str) -> Subquery:
    """The same as a named parameter, for statements that are built once. `giving` returns its values."""
    if dialect == "sqlite":
        return _json_table(columns, bindparam("given", type_=Text))
    return _unnested(columns, [bindparam(f"given_{name}", type_=Text) for name in columns])


def _unnested(columns: Sequence[str], arrays: Sequence[BindParameter[str]]) -> Subquery:
    typed = [array.cast(ARRAY(BigInteger)) for array in arrays]
    unnested = func.unnest(*typed).table_valued(*columns).render_derived()
    return select(*(unnested.c[name].cast(BigInteger).label(name) for name in columns)).subquery()


def giving(dialect: str, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The values of `given`."""
    if dialect == "sqlite":
        return {"given": _as_json(rows)}
    return {f"given_{name}": integer_array([row[place] for row in rows]) for place, name in enumerate(columns)}


def texts(connection: Connection, values: Sequence[str]) -> Subquery:
    """The same with one column of texts, `value`, that sort by their bytes."""
    if connection.dialect.name == "sqlite":
        return _texts_of_json(bindparam(None, json.dumps(values), unique=True))
    return _texts_of_array(bindparam(None, list(values), type_=ARRAY(Text), unique=True))


def given_texts(dialect: str) -> Subquery:
    """The same as a named parameter. `giving_texts` returns its values."""
    if dialect == "sqlite":
        return _texts_of_json(bindparam("texts", type_=Text))
    return _texts_of_array(bindparam("texts", type_=ARRAY(Text)))


def giving_texts(dialect: str, values: Sequence[str]) -> dict[str, Any]:
    """The values of `given_texts`."""
    return {"texts": json.dumps(values) if dialect == "sqlite" else list(values)}


def _texts_of_json(text: BindParameter[str]) -> Subquery:
    return select(func.json_each(text).table_valued("value").c.value).subquery()


def _texts_of_array(array: BindParameter[Sequence[str]]) -> Subquery:
    unnested = func.unnest(array).table_valued("value").render_derived()
    return select(unnested.c.value.cast(Text).collate("C").label("value")).subquery()


def integer_array(values: Sequence[int | None]) -> str:
    """PostgreSQL's text of an array of integers. The driver would write it element by element, which takes longer."""
    return "{" + ",".join(["NULL" if one is None else int.__repr__(one) for one in values]) + "}"
