"""Sources whose dataset is not decided yet: a model in memory may be saved to a path before its predictions are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Callable

from whence_client.frames.frames import FrameLineage
from whence_client.lineage.columns import Column, Dataset, Edge, Edges, influence, merge, transform
from whence_client.lineage.rows import Rows


class PendingDataset(Dataset):
    """A dataset of which only `resolve` knows what it is: it gives the sources of a field at the time of a write."""

    resolve: Callable[[str], Column]

    def __new__(cls, key: str, resolve: Callable[[str], Column]) -> PendingDataset:
        made: Any = super().__new__(cls, "", key)
        made.resolve = resolve
        return made  # type: ignore[no-any-return]


def settle(lineage: FrameLineage) -> FrameLineage:
    """The lineage with the sources that are known now in the place of those that were pending."""
    if not any(_has_pending(one) for one in (*lineage.columns.values(), Column(indirect=lineage.rows.edges))):
        return lineage
    columns = {name: _settle_column(column) for name, column in lineage.columns.items()}
    rows = _settle_column(Column(indirect=lineage.rows.edges, reasons=lineage.rows.reasons))
    inputs = frozenset(one for one in lineage.inputs if not isinstance(one, PendingDataset))
    return replace(lineage, columns=columns, rows=Rows(rows.indirect, rows.reasons), inputs=inputs)


def _has_pending(column: Column) -> bool:
    return any(isinstance(edge.source.dataset, PendingDataset) for edge in (*column.direct, *column.indirect))


def _settle_column(column: Column) -> Column:
    if not _has_pending(column):
        return column
    kept = Column(_settled(column.direct), _settled(column.indirect), column.reasons, column.fields, column.type)
    made = merge(
        [kept, *(transform([_resolve(edge)], edge.subtype, masking=edge.masking) for edge in _pending(column.direct))]
    )
    indirect = made.indirect.union(*(influence([_resolve(edge)], edge.subtype) for edge in _pending(column.indirect)))
    return replace(made, indirect=indirect)


def _settled(edges: Edges) -> Edges:
    return frozenset(edge for edge in edges if not isinstance(edge.source.dataset, PendingDataset))


def _pending(edges: Edges) -> Iterable[Edge]:
    return [edge for edge in edges if isinstance(edge.source.dataset, PendingDataset)]


def _resolve(edge: Edge) -> Column:
    dataset = edge.source.dataset
    assert isinstance(dataset, PendingDataset)
    found = dataset.resolve(edge.source.field)
    return _settle_column(found)
