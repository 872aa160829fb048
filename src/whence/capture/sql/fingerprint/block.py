"""A block: the sources, joins and conditions of a query, while other queries may still become part of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.capture.sql.provenance.formulas import Formula

NEAREST, NEAREST_OR_NONE = "nearest", "nearest or none"


@dataclass(slots=True)
class OuterJoin:
    """LEFT: `right` may be missing. FULL: `left` may be missing too. NEAREST: the one row of `right` that ASOF JOIN
    finds for a row, which drops rows without one unless it is NEAREST_OR_NONE.
    """

    kind: str
    right: "Block"
    on: list[Formula]
    left: "Block | None" = None

    def formulas(self) -> Iterator[Formula]:
        """The conditions of the join, and the sources and conditions of its sides."""
        yield from self.on
        for side in (self.right, self.left):
            if side is not None:
                yield from (*side.sources, *side.conditions)
                for inner in side.outer_joins:
                    yield from inner.formulas()


@dataclass(slots=True)
class Block:
    """Sources that all rows come from (`inst` formulas), outer joins to them, and conditions after all of them."""

    sources: list[Formula] = field(default_factory=list)
    outer_joins: list[OuterJoin] = field(default_factory=list)
    conditions: list[Formula] = field(default_factory=list)
    is_used: bool = False
    """A query reads its instances already: the next one needs instances of its own."""

    def instances(self) -> Iterator[Formula]:
        yield from self.sources
        for join in self.outer_joins:
            yield from join.left.instances() if join.left is not None else ()
            yield from join.right.instances()

    def add(self, other: "Block") -> None:
        """Add the sources of another block: an inner join, whose conditions are among all others."""
        self.sources += other.sources
        self.outer_joins += other.outer_joins
        self.conditions += other.conditions

    @property
    def is_plain(self) -> bool:
        """Whether the rows are those of one source."""
        return len(self.sources) == 1 and not self.outer_joins and not self.conditions


def instances_of(formula: Formula) -> set[Formula]:
    """The sources that a formula reads and that are not complete."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part.is_open and part not in seen:
            seen.add(part)
            remaining += part.parts
    return {part for part in seen if part.op == "inst"}


OUTER_VIEW = "outer view"
"""In place of `lateral`: rows of LATERAL VIEW OUTER, one with NULL in all columns where there would be none."""


def rows_of(instance: Formula) -> Formula:
    """The rows that an `inst` formula ranges over."""
    rows = instance.args[1]
    assert isinstance(rows, Formula)
    return rows
