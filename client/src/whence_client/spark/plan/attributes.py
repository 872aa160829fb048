"""The output of an operator: its attributes in order, and the columns behind them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from whence_client.lineage.columns import EMPTY, Column, Dataset, unknown
from whence_client.lineage.rows import NO_ROWS, Rows
from whence_client.spark.plan.trees import expression_id, trees_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Leaf = Union["tuple[Dataset, ...]", str]
"""What a leaf of a plan reads: datasets with the same columns (paths), or the reason why it has none."""


class Attribute(NamedTuple):
    """A column of an operator's output, in its order."""

    id: int
    name: str


class Computed(NamedTuple):
    """What computed a column beside the columns of its expression: a model, or nothing (EMPTY).

    `is_exact`: the value is of all columns in the expression, so that its function hides none.
    """

    model: Column
    is_exact: bool


@dataclass(frozen=True)
class Relation:
    """The output of an operator: its attributes, the columns in scope, and what chose, grouped or ordered its rows.

    `window_order` is what windows sorted the rows by: nobody asked for it, but a limit takes the first rows of it.
    `ungrouped` is what chose the rows before an aggregation grouped them; None of other operators.
    """

    output: tuple[Attribute, ...]
    columns: Mapping[int, Column]
    influences: Rows = NO_ROWS
    window_order: Rows = NO_ROWS
    ungrouped: Rows | None = None

    def column(self, index: int) -> Column:
        """The column at a position."""
        return self.columns.get(self.output[index].id, EMPTY)

    @property
    def values(self) -> list[Column]:
        """The columns in order."""
        return [self.column(index) for index in range(len(self.output))]


def attributes_of(value: Any) -> tuple[Attribute, ...]:
    """The attributes that a field of a node lists, or that its named expressions define."""
    found = ((expression_id(tree[0]), str(tree[0].get("name", ""))) for tree in trees_in(value))
    return tuple(Attribute(number, name) for number, name in found if number is not None)


def rows_of(relations: Iterable[Relation]) -> Rows:
    """What chose, grouped or ordered the rows of several relations."""
    return reduce(operator.or_, (one.influences for one in relations), NO_ROWS)


def window_order_of(relations: Iterable[Relation]) -> Rows:
    """What windows sorted the rows of several relations by."""
    return reduce(operator.or_, (one.window_order for one in relations), NO_ROWS)


def passed_columns(output: Iterable[Attribute], children: list[Relation], reason: str) -> dict[int, Column]:
    """The columns that an operator passes on, by id; what it adds has no sources, for this reason."""
    columns = all_columns(children)
    return {one.id: columns.get(one.id, unknown(reason)) for one in output}


def all_columns(children: list[Relation]) -> dict[int, Column]:
    """The columns of all children, by id."""
    return {number: column for child in children for number, column in child.columns.items()}
