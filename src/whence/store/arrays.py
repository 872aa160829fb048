"""Many rows of integers as one bound parameter: a table inside a query, so that one query serves a whole batch."""

import json
from collections.abc import Sequence

from sqlalchemy import ARRAY, BigInteger, BindParameter, Connection, Subquery, bindparam, func, select


def integers(connection: Connection, columns: Sequence[str], rows: Sequence[Sequence[int]]) -> Subquery:
    """A subquery with the given integer columns, one row for each of `rows`."""
    if connection.dialect.name == "sqlite":
        return _from_json(columns, rows)
    lists = [[row[place] for row in rows] for place in range(len(columns))]
    arrays = [bindparam(None, values, type_=ARRAY(BigInteger), unique=True) for values in lists]
    unnested = func.unnest(*arrays).table_valued(*columns).render_derived()
    return select(*(unnested.c[name].cast(BigInteger).label(name) for name in columns)).subquery()


def _from_json(columns: Sequence[str], rows: Sequence[Sequence[int]]) -> Subquery:
    text: BindParameter[str] = bindparam(None, json.dumps([list(row) for row in rows]), unique=True)
    each = func.json_each(text).table_valued("value")
    values = [func.json_extract(each.c.value, f"$[{place}]").label(name) for place, name in enumerate(columns)]
    return select(*values).subquery()
