"""The lineage of a frame: its columns, and what chose, grouped or ordered its rows."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whence_client.lineage.columns import Column, Dataset, add_reason, merge, read_column, unknown
from whence_client.lineage.rows import NO_ROWS, Rows


@dataclass(frozen=True)
class FrameLineage:
    """`columns` by name in their order, `rows`, and `inputs` that were read, with or without columns.

    `index` are the named levels of an index, where the library has one: `reset_index` makes columns of them.
    """

    columns: Mapping[Any, Column] = field(default_factory=dict)
    rows: Rows = NO_ROWS
    inputs: frozenset[Dataset] = frozenset()
    index: Mapping[Any, Column] = field(default_factory=dict)

    def with_rows(self, rows: Rows) -> FrameLineage:
        """The same columns, whose rows more decides on."""
        return replace(self, rows=self.rows | rows)

    def announced(self) -> Mapping[Any, Column]:
        """The columns as they are reported: what is not known of the rows is a doubt about each."""
        reasons = self.rows.reasons
        if not reasons:
            return self.columns
        return {name: add_reason(one, min(reasons)) if not one.reasons else one for name, one in self.columns.items()}


def read_frame(dataset: Dataset, names: Iterable[str]) -> FrameLineage:
    """A frame as it is read from a dataset."""
    return read_frames((dataset,), names)


def read_frames(datasets: Sequence[Dataset], names: Iterable[str]) -> FrameLineage:
    """A frame as it is read from datasets that have the same columns."""
    columns = {name: merge(read_column(one, name) for one in datasets) for name in names}
    return FrameLineage(columns, inputs=frozenset(datasets))


def unknown_frame(names: Iterable[Any], reason: str) -> FrameLineage:
    """A frame whose columns and rows have no known source, and why."""
    return FrameLineage({name: unknown(reason) for name in names}, Rows(reasons=frozenset((reason,))))


def join_rows(frames: Iterable[FrameLineage]) -> Rows:
    """What decided on the rows of any of these."""
    return functools.reduce(operator.or_, (one.rows for one in frames), NO_ROWS)


def join_inputs(frames: Iterable[FrameLineage]) -> frozenset[Dataset]:
    """What any of these have read."""
    return frozenset().union(*(one.inputs for one in frames))
