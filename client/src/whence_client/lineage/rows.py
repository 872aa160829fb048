"""What chose, grouped, joined or ordered rows: an influence on each of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence_client.lineage.columns import Column, Edges, influence

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Rows:
    """What decided on some rows. `reasons` say why more may have, and is not known."""

    edges: Edges = frozenset()
    reasons: frozenset[str] = frozenset()

    def __or__(self, other: Rows) -> Rows:
        return Rows(self.edges | other.edges, self.reasons | other.reasons)

    def decide(self, column: Column) -> Column:
        """A column of these rows, taken by itself: what decided on the rows decided on it."""
        if not self.edges and not self.reasons:
            return column
        reasons = column.reasons | self.reasons
        return Column(column.direct, column.indirect | self.edges, reasons, column.fields, column.type)

    def doubt(self, column: Column) -> Column:
        """A column of these rows, with what is not known of them."""
        if not self.reasons:
            return column
        return Column(column.direct, column.indirect, column.reasons | self.reasons, column.fields, column.type)


NO_ROWS = Rows()
"""Nothing decides on the rows."""


def rows_by(columns: Iterable[Column], subtype: str) -> Rows:
    """Rows that the values of columns decide; what is not known of those is not known of the rows."""
    deciding = tuple(columns)
    return Rows(influence(deciding, subtype), frozenset().union(*(one.reasons for one in deciding)))
