"""The common methods of answers: the JSON documents of the API (docs/reference/http-api.md) as typed values, frozen.

Nodes and runs are node ids (`dataset:…`, `run:…`), times ISO 8601 in UTC.
"""

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from whence.client import data_frames, notebook
from whence.client.values.graph import Completeness
from whence.csv_text import csv_text

if TYPE_CHECKING:
    import pandas
    import polars

Json = dict[str, Any]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The common methods of all answers. Their rows are the items of one member."""

    _rows: ClassVar[str] = ""
    """The member with the rows; empty: the answer itself is the only row."""
    _columns: ClassVar[tuple[str, ...]] = ()

    def document(self, beside: Json | None = None) -> Json:
        """The answer as one JSON document: the output of `whence … --output json`. `beside`: further members of its
        head.
        """
        members: Json = msgspec.to_builtins(self)
        document: Json = {}
        for name, value in members.items():
            document |= {**(beside or {}), **value} if name == "completeness" else {name: value}
        return document

    def csv(self) -> str:
        """The rows as CSV: the output of `whence … --output csv`."""
        return csv_text(self._columns, self._table())

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas DataFrame. Raises NotInstalledError."""
        return data_frames.pandas_frame(self._columns, self._table())

    def to_polars(self) -> "polars.DataFrame":
        """The rows as a polars DataFrame. Raises NotInstalledError."""
        return data_frames.polars_frame(self._columns, self._table())

    def __repr__(self) -> str:
        return notebook.text_table(self._title(), self._columns, self._table(notebook.SHOWN), self._size())

    def _repr_html_(self) -> str:
        return notebook.html_table(self._title(), self._columns, self._table(notebook.SHOWN), self._size())

    def _table(self, limit: int | None = None) -> Sequence[Mapping[str, Any]]:
        found: list[Json] = msgspec.to_builtins(list(getattr(self, self._rows)[:limit]) if self._rows else [self])
        return found

    def _size(self) -> int:
        rows: Sized = getattr(self, self._rows) if self._rows else (self,)
        return len(rows)

    def _title(self) -> str:
        return type(self).__name__


def count_rows(rows: Sized, noun: str) -> str:
    """Their number with the noun: `2 nodes`."""
    return count_text(len(rows), noun)


def count_text(number: int, noun: str) -> str:
    """A number with its noun: `1 node`, `2 nodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def describe_completeness(completeness: Completeness) -> str:
    """`complete`, or why it is not."""
    return "complete" if completeness.complete else f"not complete ({completeness.stopped_by})"
