"""What chose, grouped or ordered the rows of a relation, and why that may not be all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence_client.lineage.columns import LEFT_THE_ENGINE, NOT_CAPTURED, Column, Edges, influence

if TYPE_CHECKING:
    from collections.abc import Iterable

_GAPS = frozenset((LEFT_THE_ENGINE, NOT_CAPTURED))


@dataclass(frozen=True)
class Influences:
    """Edges into all columns of some rows. `reasons`: why there may be more of them."""

    edges: Edges = frozenset()
    reasons: frozenset[str] = frozenset()

    def __or__(self, other: Influences) -> Influences:
        """Both together."""
        return Influences(self.edges | other.edges, self.reasons | other.reasons)

    def decide(self, column: Column) -> Column:
        """A column of these rows, taken by itself."""
        return Column(
            column.direct, column.indirect | self.edges, column.reasons | self.reasons, column.fields, column.type
        )

    def doubt(self, column: Column) -> Column:
        """A column of these rows, with what is not known of them."""
        if not self.reasons:
            return column
        return Column(column.direct, column.indirect, column.reasons | self.reasons, column.fields, column.type)


NO_INFLUENCES = Influences()


def chosen_by(columns: Iterable[Column], subtype: str) -> Influences:
    """What conditions or keys contribute. A condition over unknown sources may depend on more."""
    conditions = tuple(columns)
    reasons = frozenset().union(*(one.reasons for one in conditions))
    return Influences(influence(conditions, subtype), reasons & _GAPS)
