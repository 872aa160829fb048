"""Groups of groups as groups of their rows: sums of sums, sums of counts, extremes of extremes.

`SELECT k, sum(n) FROM (SELECT k, d, count(*) AS n FROM t GROUP BY k, d) GROUP BY k` counts the rows of t. The inner
keys are the same for all rows of a group, so that conditions on them, joins by them and outer keys made of them may as
well be asked of each row.
"""

from collections.abc import Callable, Sequence
from typing import Final

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import make_filtered
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import is_unique
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known, rejects_null
from whence.capture.sql.fingerprint.normal_forms.sources.existence import MOST_SOURCES
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import (
    ForeignSourceError,
    Reopened,
    tell_zeros_apart,
)
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.row_identity import Change, change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

_EXTREMES: Final = frozenset({"max", "min", "logicalor", "logicaland"})
"""Aggregates of which the one of groups is that of their rows."""
_CONDITIONAL: Final = 3
"""The parts of a CASE with one branch."""


Bind = Callable[[Sequence[Formula]], Sequence[Formula]]


class _NotOfRowsError(Exception):
    """A formula needs the groups themselves."""


def without_inner_groups(
    store: Formulas,
    block: Block,
    keys: Sequence[Formula],
    values: Sequence[Formula],
    bind: Bind,
) -> tuple[Block, list[Formula]] | None:
    """The rows of a grouped source in its place, with the keys and values over them; None if groups of it are needed.

    `bind` writes aggregates that need the groups, beside others that do not, as values of all rows that they read.
    """
    for instance in block.sources:
        rows = rows_of(instance)
        is_set = rows.op == "group" and formulas_of(rows)[-1].op == "set" and len(formulas_of(rows)) > 1
        if not is_set or rows.is_open or rows.is_volatile or instance in _joined(block):
            continue
        try:
            return _Merged(store, block, instance).change(keys, values, bind)
        except (ForeignSourceError, _NotOfRowsError):
            continue
    return None


def _joined(block: Block) -> set[Formula]:
    """The sources of the right sides of outer joins, which may be missing."""
    return {one for join in block.outer_joins for one in (*join.right.instances(), *_left(join.left))}


def _left(left: Block | None) -> list[Formula]:
    return list(left.instances()) if left is not None else []


class _Merged:
    """The block with the rows of one grouped source."""

    def __init__(self, store: Formulas, block: Block, instance: Formula) -> None:
        self.store = store
        self.block = block
        self.instance = instance
        inside, keys = formulas_of(rows_of(instance))
        self.keys = formulas_of(keys)
        self.rows = Reopened(store, inside)
        self.open = change_everywhere(store, self._open)
        self.bound: dict[Formula, Formula] = {}
        """Aggregates that need the groups, and what is written for them."""
        self.is_merged = False
        """Whether an aggregate of groups became one of rows."""

    def change(self, keys: Sequence[Formula], values: Sequence[Formula], bind: Bind) -> tuple[Block, list[Formula]]:
        """Raises _NotOfRowsError and ForeignSourceError."""
        merge = self._merge_with(keys)
        joins = [part for join in self.block.outer_joins for part in join.formulas()]
        readers = [*self.block.conditions, *joins, *map(rows_of, self.block.sources)]
        is_volatile = any(one.is_volatile for one in (*readers, *keys, *values))
        if is_volatile or tell_zeros_apart(self.instance, [*readers, *keys, *values]):
            raise _NotOfRowsError
        merged = [*map(merge, values)]
        if self.bound:
            if not self.is_merged:
                raise _NotOfRowsError
            self.bound = dict(zip(self.bound, bind([*self.bound]), strict=True))
            merged = [*map(merge, values)]
        found = [*map(self.open, (*keys, *merged))]
        rest = [one for one in self.block.sources if one is not self.instance]
        if len(rest) + len(self.rows.block.sources) > MOST_SOURCES:
            raise _NotOfRowsError
        made = change_block(Block(rest, self.block.outer_joins, self.block.conditions, self.block.is_used), self.open)
        made.sources = [*self.rows.block.sources, *made.sources]
        made.conditions = [*self.rows.block.conditions, *made.conditions]
        return made, found

    def _merge_with(self, keys: Sequence[Formula]) -> Change:
        """What becomes of a value with aggregates. Numbers in a CASE are 0 in place of NULL where there is none."""
        zero = self.store.make("number", "0")

        def merge(value: Formula) -> Formula:
            if value.op == "aggregate":
                return self._merge_or_bind(value, keys)
            if not value.has_aggregate:
                return value
            parts = formulas_of(value)
            is_number = value.op == "coalesce" and len(parts) == 2 and parts[1] is zero and bool(keys)
            if is_number and (number := self._number(parts[0])) is not None:
                return number
            return rebuild(self.store, value, merge)

        return merge

    def _merge_or_bind(self, part: Formula, keys: Sequence[Formula]) -> Formula:
        if part in self.bound:
            return self.bound[part]
        try:
            return self._aggregate(part, keys)
        except _NotOfRowsError:
            return self.bound.setdefault(part, part)

    def _number(self, total: Formula) -> Formula | None:
        """The sum of numbers of rows of some groups, which is 0 without any, as the number of these rows."""
        if total.args[:2] != ("sum", "this"):
            return None
        condition, inner = self._inner(formulas_of(total)[0])
        is_number = condition is not None and inner is not None and inner.args[0] == "count"
        return self._total("sum", condition, inner, is_grouped=True) if is_number and inner is not None else None

    def _open(self, part: Formula) -> Formula:
        if part is self.instance:
            raise _NotOfRowsError
        if part.op != "of" or part.args[0] is not self.instance:
            return part
        column = formulas_of(part)[1]
        if column.has_aggregate or column.has_window:
            raise _NotOfRowsError
        return self.rows.open(column)

    def _aggregate(self, part: Formula, keys: Sequence[Formula]) -> Formula:
        """An aggregate of groups as one of their rows."""
        match part.args:
            case (str() as name, "this", Formula() as value) if name in _EXTREMES or name == "sum":
                condition, inner = self._inner(value)
                is_missing = condition is not None and inner is not None and inner.args[0] == "count"
                if inner is not None and not is_missing:
                    return self._total(name, condition, inner, is_grouped=bool(keys))
                if name in _EXTREMES:
                    return self.open(part)
            case ("count", Formula(op="distinct")):
                return self.open(part)
            case ("count", Formula() as counted):
                return self._count(counted, keys)
        raise _NotOfRowsError

    def _inner(self, value: Formula) -> tuple[Formula | None, Formula | None]:
        """The aggregate of a group that a value is, and where it is that; elsewhere it is NULL."""
        condition, parts = None, formulas_of(value)
        if value.op == "case" and len(parts) == _CONDITIONAL and parts[2].op == "null":
            condition, value, _ = parts
        inner = self._without_width(self._column(value))
        return (condition, inner) if inner.op == "aggregate" else (None, None)

    def _column(self, value: Formula) -> Formula:
        is_column = value.op == "of" and value.args[0] is self.instance
        return formulas_of(value)[1] if is_column else value

    def _without_width(self, value: Formula) -> Formula:
        """A number of rows without casts to the type of its sum; anything else as it is."""
        inside = value
        while inside.op == "cast" and type_of(inside) == "hugeint":
            inside = self._column(formulas_of(inside)[0])
        return inside if inside.args[:1] == ("count",) else value

    def _total(self, name: str, condition: Formula | None, inner: Formula, *, is_grouped: bool) -> Formula:
        is_sum = name == "sum" and inner.args[0] == "count" and is_grouped and self.store.dialect == "duckdb"
        if not is_sum and inner.args[:2] != (name, "this"):
            raise _NotOfRowsError
        is_distinct = any(one.op == "distinct" for one in formulas_of(inner))
        if is_distinct:
            raise _NotOfRowsError
        found, self.is_merged = self.rows.open_total(inner), True
        if condition is not None:
            found = make_filtered(self.store, found, self.open(condition))
        return self.store.make("cast", found, self.store.make("type", "int128")) if is_sum else found

    def _count(self, counted: Formula, keys: Sequence[Formula]) -> Formula:
        """A number of groups as that of the different values of the one inner key that is no outer one."""
        over = [self.store.make("of", self.instance, key) for key in self.keys]
        free = [one for one in over if one not in keys]
        is_alone = [*self.block.instances()] == [self.instance]
        if not is_alone or len(free) != 1:
            return self._count_different(counted, keys, free)
        (key,) = free
        condition, null = None, self.store.make("null")
        parts = formulas_of(counted)
        if counted.op == "case" and len(parts) == _CONDITIONAL and parts[1].op == "number" and parts[2] is null:
            condition = self.open(parts[0])
        is_counted = counted is key or (condition is not None and rejects_null(parts[0], key))
        if not is_counted and not (
            (counted.op == "star" or condition is not None) and is_known(self.block.conditions, key)
        ):
            raise _NotOfRowsError
        listed = self.store.make("list", self.open(key))
        count = self.store.make("aggregate", "count", self.store.make("distinct", "expressions", listed))
        return count if condition is None else make_filtered(self.store, count, condition)

    def _count_different(self, counted: Formula, keys: Sequence[Formula], free: Sequence[Formula]) -> Formula:
        """A number of rows as that of the different values of an inner key that is one of one row in each group."""
        if counted.op != "star":
            raise _NotOfRowsError
        for key in sorted(free, key=lambda one: formulas_of(one)[-1].digest if one.op == "of" else one.digest):
            if (
                key.op == "of"
                and is_known(self.block.conditions, key)
                and is_unique(self.store, self.block, [*keys, key], reads_sums=True)
            ):
                listed = self.store.make("list", self.open(key))
                return self.store.make("aggregate", "count", self.store.make("distinct", "expressions", listed))
        raise _NotOfRowsError
