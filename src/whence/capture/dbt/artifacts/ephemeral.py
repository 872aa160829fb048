"""Ephemeral models in compiled SQL: dbt includes each in the models that use it, as a CTE `__dbt__cte__<name>`.

>>> split_ephemeral("with __dbt__cte__a as (select 1 as x) select x from __dbt__cte__a").own
' select x from __dbt__cte__a'
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

PREFIX = "__dbt__cte__"

_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_WITH = re.compile(rf"{_BLANK}(?P<with>with(?P<recursive>\s+recursive)?)\b", re.IGNORECASE | re.DOTALL)
_HEAD = re.compile(rf'[\s,]*["`\[]?(?P<name>{PREFIX}\w+)["`\]]?\s+as\s*\(', re.IGNORECASE)
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|[()]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SplitSql:
    """A model's own SQL with unchanged line numbers, and the SQL of the ephemeral models in it, in their order."""

    own: str
    ephemeral: Mapping[str, str]


def split_ephemeral(sql: str) -> SplitSql:
    """Split the CTEs of ephemeral models from compiled SQL. SQL without any is returned unchanged."""
    start = _WITH.match(sql)
    if not start:
        return SplitSql(sql, {})
    bodies: dict[str, str] = {}
    position = start.end()
    while head := _HEAD.match(sql, position):
        end = _closing(sql, head.end())
        if end is None:
            return SplitSql(sql, {})
        bodies[head["name"].lower()] = sql[head.end() : end]
        position = end + 1
    return SplitSql(_without(sql, start, position), bodies) if bodies else SplitSql(sql, {})


def _without(sql: str, start: re.Match[str], at: int) -> str:
    before, rest = sql[: start.start("with")], sql[at:]
    lines = "\n" * sql.count("\n", len(before), at)
    if not rest.lstrip().startswith(","):
        return before + lines + rest
    return f"{before}{lines}with{start['recursive'] or ''}{rest.replace(',', '', 1)}"


def _closing(sql: str, start: int) -> int | None:
    """The position of the bracket that closes the one before `at`."""
    depth = 1
    for token in _TOKEN.finditer(sql, start):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return token.start()
    return None
