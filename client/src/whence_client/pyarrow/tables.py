"""Tables of PyArrow in memory: their columns, which share buffers with the tables that they were taken from.

The classes of PyArrow cannot be patched, so calls of a table's methods are not seen. A column that a method passes on
is found by its buffer; one that it computes is announced.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from whence_client.frames.frames import FrameLineage, unknown_frame
from whence_client.frames.memory import FrameMemory
from whence_client.lineage.columns import LEFT_THE_ENGINE, Dataset

_MOST_OPENED = 1_000
"""The files and datasets that are remembered as read or opened: the oldest go first."""

ColumnKind = tuple[str, str]
"""The name of a column and its type."""


class ArrowColumn:
    """A column as `FrameMemory` takes it."""

    def __init__(self, name: str, values: Any) -> None:
        self.name, self.dtype = name, str(values.type)
        self._values = values if hasattr(values, "chunks") else sys.modules["pyarrow"].chunked_array([values])

    def null_count(self) -> int:
        """The number of nulls."""
        return int(self._values.null_count)

    def __getitem__(self, place: int) -> Any:
        return self._values[place].as_py()

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return self._values.__arrow_c_stream__(requested)


class Tables:
    """The lineage of tables, record batches and opened datasets."""

    def __init__(self, memory: FrameMemory) -> None:
        self._memory = memory
        self._opened: dict[tuple[Dataset, frozenset[ColumnKind]], None] = {}

    def remember(self, table: Any, lineage: FrameLineage) -> None:
        """Keep the lineage of a table, and of its columns."""
        self._memory.remember(table, lineage, lambda: list_columns(table))

    def remember_arrays(self, frame: Any, arrays: Sequence[Any], names: Sequence[str]) -> None:
        """Keep the lineage of a frame's columns, which were converted into arrays."""
        lineage = self._memory.find(frame)
        if lineage is not None:
            columns = {str(name): column for name, column in lineage.columns.items()}
            known = FrameLineage(columns, lineage.rows, lineage.inputs, lineage.index)
            self._memory.remember(frame, known, lambda: list(map(ArrowColumn, names, arrays)))
            self._memory.remember(frame, lineage)

    def open(self, opened: Any, dataset: Dataset, lineage: FrameLineage) -> None:
        """Keep a dataset that was opened: what reads it is not seen."""
        self._memory.remember(opened, lineage)
        self.note_opened(dataset, opened.schema)

    def note_opened(self, dataset: Dataset, schema: Iterable[Any]) -> None:
        """Keep what a dataset has: a column that is made of it later may not be known any more."""
        self._opened[dataset, frozenset(list_kinds(schema))] = None
        while len(self._opened) > _MOST_OPENED:
            self._opened.pop(next(iter(self._opened)))

    def find(self, thing: Any) -> FrameLineage | None:
        """The lineage of a table, frame or opened dataset; None if nothing of it is known."""
        found = self._memory.find(thing)
        if found is None and hasattr(thing, "columns") and hasattr(thing, "schema"):
            found = self._memory.find_by_buffers(lambda: list_columns(thing))
        return found

    def find_or_announce(self, thing: Any, kinds: Sequence[ColumnKind]) -> FrameLineage:
        """The lineage of what is written. Columns whose source cannot be known are announced, and the files and
        datasets that were read or opened and have such a column are inputs: it may be theirs.
        """
        names = [name for name, _ in kinds]
        found = self.find(thing) or unknown_frame(names, LEFT_THE_ENGINE)
        lost = {(name, kind) for name, kind in kinds if not _is_known(found, name)}
        read = (dataset for dataset, columns in self._opened if lost & columns)
        columns = {name: found.columns.get(name) or _LOST.columns[""] for name in names}
        return FrameLineage(columns, found.rows, found.inputs | frozenset(read))


def list_columns(table: Any) -> list[ArrowColumn]:
    """The columns of a table or record batch."""
    return [ArrowColumn(name, values) for name, values in zip(table.schema.names, table.columns)]


def list_kinds(schema: Iterable[Any]) -> list[ColumnKind]:
    """The name and type of each column of a schema."""
    return [(str(field.name), str(field.type)) for field in schema]


def _is_known(lineage: FrameLineage, name: str) -> bool:
    column = lineage.columns.get(name)
    return column is not None and not column.reasons


_LOST = unknown_frame([""], LEFT_THE_ENGINE)
