"""Aggregates made simpler: by the keys of their groups, and by the conditions on their rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block
from whence.capture.sql.fingerprint.normal_forms.aggregates.aggregate_filters import without_key_filter
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value, make_count
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import FixedValues, is_unique
from whence.capture.sql.fingerprint.normal_forms.aggregates.linear_sums import split_sum, sum_of_some
from whence.capture.sql.fingerprint.normal_forms.aggregates.monotone import extreme_inside
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import change_aggregates
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.normal_forms.values.known import KnownValues
from whence.capture.sql.fingerprint.row_identity import Change
from whence.capture.sql.provenance.formulas import Formula, Formulas

ValueOfGroup = Callable[[Formula, frozenset[Formula]], Formula]
"""What a value that the keys fix is over their groups."""


def simplified(
    store: Formulas, block: Block, keys: Sequence[Formula], known: KnownValues, value_of_group: ValueOfGroup
) -> Change:
    """The greatest and the least value of a key are the key. A count of values that are not NULL is one of rows."""
    return change_aggregates(store, _Simplified(store, block, keys, known, value_of_group).change)


class _Simplified:
    """Aggregates over the rows of a block, by keys."""

    def __init__(
        self, store: Formulas, block: Block, keys: Sequence[Formula], known: KnownValues, value_of_group: ValueOfGroup
    ) -> None:
        self.store = store
        self.block = replace(block, conditions=[*known.conditions])
        self.keys = keys
        self.known = known
        self.value_of_group = value_of_group
        self.fixed = FixedValues(store, self.block, keys)
        self.own = frozenset(self.block.instances())

    def change(self, part: Formula) -> Formula:
        part = extreme_inside(self.store, self.fixed.simplify(part))
        part = self._split(part)
        match part.args:
            case ("anyvalue", "this", Formula(op="of") as value) if self.keys:
                part = self.value_of_group(value, frozenset(self.keys))
        if part.op != "aggregate":
            return change_aggregates(self.store, self.change)(part)
        lifted = without_key_filter(self.store, part, self.keys, self.own)
        if lifted is not part:
            return change_aggregates(self.store, self.change)(lifted)
        return self._total(part)

    def _split(self, part: Formula) -> Formula:
        """A sum of sums and products as sums of their parts."""
        match part.args:
            case ("sum", "this", Formula() as value) if part.op == "aggregate":
                return split_sum(self.store, value, self.known.is_known, self._sum) or part
        return part

    def _sum(self, value: Formula) -> Formula:
        return self.store.make("aggregate", "sum", "this", value)

    def _total(self, part: Formula) -> Formula:
        keys, known = self.keys, self.known
        match part.args:
            case ("max" | "min" | "anyvalue", "this", Formula() as value) if value in keys:
                return value
            case ("sum", "this", Formula() as value) if keys and (
                some := sum_of_some(self.store, value, known.is_known)
            ):
                return some
            case ("sum", "this", Formula(op="coalesce", args=(Formula() as value, Formula() as zero))) if (
                keys and integer_of(zero) == 0
            ):
                total = self.store.make("aggregate", "sum", "this", value)
                return total if known.is_known(value) else make_coalesce(self.store, [total, zero])
            case ("count", Formula(op="distinct") as distinct) if (
                keys
                and (only := distinct_value(distinct)) is not None
                and is_unique(self.store, self.block, [*keys, only])
            ):
                return self.change(make_count(self.store, only))
            case ("argmax" | "argmin" as name, "expression", Formula() as by, "this", Formula() as value):
                return self._first_value(part, value, by, is_greatest=name == "argmax")
            case ("count", Formula() as value) if known.is_known(value):
                return self.store.make("aggregate", "count", self.store.make("star"))
        return part

    def _first_value(self, part: Formula, value: Formula, by: Formula, *, is_greatest: bool) -> Formula:
        """The value of the one row with the greatest value of another column, if no row has NULL in one of them."""
        is_known = self.known.is_known(value) and self.known.is_known(by)
        is_known = is_known and has_one_spelling(type_of(by), self.store.dialect)
        if not (self.keys and is_known and is_unique(self.store, self.block, [*self.keys, by])):
            return part
        order = self.store.make("list", self.store.make("ordered", *(("desc",) if is_greatest else ()), by))
        return self.store.make("aggregate", "first_row", value, order)
