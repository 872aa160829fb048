"""The lineage of a frame: its columns, and what chose, grouped or ordered its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whence_client.lineage.columns import NO_SOURCE, Column, Dataset, Edges, read_column, unknown


@dataclass(frozen=True)
class FrameLineage:
    """`columns` by name in their order, `influences` on all rows, `inputs` that were read, with or without columns."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    influences: Edges = frozenset()
    inputs: frozenset[Dataset] = frozenset()

    @property
    def unexplained(self) -> dict[str, str]:
        """Why a column has no source of its values, for those without one."""
        return {
            name: min(column.reasons, default=NO_SOURCE) for name, column in self.columns.items() if not column.direct
        }

    def with_influences(self, edges: Edges) -> FrameLineage:
        """The same columns, with more influences on the rows."""
        return FrameLineage(self.columns, self.influences | edges, self.inputs)


def read_frame(dataset: Dataset, names: Iterable[str]) -> FrameLineage:
    """A frame as it is read from a dataset."""
    return FrameLineage({name: read_column(dataset, name) for name in names}, inputs=frozenset((dataset,)))


def unknown_frame(names: Iterable[str], reason: str) -> FrameLineage:
    """A frame whose columns have no known source, and why."""
    return FrameLineage({name: unknown(reason) for name in names})
