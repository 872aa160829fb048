"""Columns of schema facets: at a time, and their changes from one schema to the next."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from whence.model.graph import SchemaRow

Columns = Mapping[str, str]
"""Column → its type; nested columns are dotted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """A column and its type before and after; None where it did not exist."""

    name: str
    before: str | None
    after: str | None


def columns_of(row: SchemaRow | None) -> Columns:
    """The columns that a schema lists."""
    return {} if row is None else dict(_columns(row.payload))


def column_changes(before: Columns, after: Columns) -> tuple[ColumnChange, ...]:
    """Added and removed columns and those with another type, by name."""
    differing = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return tuple(ColumnChange(name=name, before=before.get(name), after=after.get(name)) for name in differing)


def schema_at(rows: Sequence[SchemaRow], at: int | None) -> SchemaRow | None:
    """The schema of one dataset that was reported last, not after a time.

    Only the first and last report of each schema is stored. When two schemas alternate, the most recently reported one
    wins.
    """
    reported = [row for row in rows if at is None or row.first_time <= at]
    return max(reported, key=lambda row: (_last(row, at), row.first_time, row.body_id), default=None)


def _last(row: SchemaRow, at: int | None) -> int:
    return row.last_time if at is None else min(row.last_time, at)


@lru_cache(maxsize=4_096)
def _columns(payload: str) -> tuple[tuple[str, str], ...]:
    facet = json.loads(payload) if payload else {}
    return tuple(_flat(facet.get("fields") if isinstance(facet, dict) else None, ""))


def _flat(fields: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for one in _objects(fields):
        name = one.get("name")
        if isinstance(name, str) and name:
            type_ = one.get("type")
            yield prefix + name, type_ if isinstance(type_, str) else ""
            yield from _flat(one.get("fields"), f"{prefix}{name}.")


def _objects(several: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []
