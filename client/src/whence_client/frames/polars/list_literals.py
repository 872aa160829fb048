"""Series that polars passes to its plan as lists of values, as `replace` does: they are found again by their values."""

from __future__ import annotations

from typing import Any

from whence_client.lineage.columns import Column

_MOST_LISTS = 1_000
_COMPARED = 1_000
"""Values at the beginning of a list that identify it, beside its length."""


class ListLiterals:
    """The columns of the series that were given to such calls; the oldest go first."""

    def __init__(self) -> None:
        self._columns: dict[tuple[int, str], Column] = {}

    def remember(self, series: Any, column: Column) -> None:
        """Remember a series of known or unknown origin."""
        self._columns[_key(len(series), series.head(_COMPARED).to_list())] = column
        while len(self._columns) > _MOST_LISTS:
            self._columns.pop(next(iter(self._columns)))

    def find(self, values: list[Any]) -> Column | None:
        """The column of the series with these values; None for a list of the program."""
        return self._columns.get(_key(len(values), values[:_COMPARED])) if self._columns else None


def _key(length: int, values: list[Any]) -> tuple[int, str]:
    return length, repr(values)
