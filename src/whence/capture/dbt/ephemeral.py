"""Ephemeral models in compiled SQL: dbt puts each into the models that use it, as a CTE `__dbt__cte__<name>`.

>>> cut("with __dbt__cte__a as (select 1 as x) select x from __dbt__cte__a").own
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
class Cut:
    """A model's own SQL, its lines where they were, and the SQL of the ephemeral models in it, in their order."""

    own: str
    ephemeral: Mapping[str, str]


def cut(sql: str) -> Cut:
    """Take the CTEs of ephemeral models out of compiled SQL. What has none comes back as it is."""
    start = _WITH.match(sql)
    if not start:
        return Cut(sql, {})
    found: dict[str, str] = {}
    at = start.end()
    while head := _HEAD.match(sql, at):
        end = _closing(sql, head.end())
        if end is None:
            return Cut(sql, {})
        found[head["name"].lower()] = sql[head.end() : end]
        at = end + 1
    return Cut(_without(sql, start, at), found) if found else Cut(sql, {})


def _without(sql: str, start: re.Match[str], at: int) -> str:
    before, rest = sql[: start.start("with")], sql[at:]
    lines = "\n" * sql.count("\n", len(before), at)
    if not rest.lstrip().startswith(","):
        return before + lines + rest
    return f"{before}{lines}with{start['recursive'] or ''}{rest.replace(',', '', 1)}"


def _closing(sql: str, at: int) -> int | None:
    """Where the bracket closes that opened just before `at`."""
    depth = 1
    for token in _TOKEN.finditer(sql, at):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return token.start()
    return None
