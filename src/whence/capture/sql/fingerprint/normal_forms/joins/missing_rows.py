"""Whether a LEFT JOIN found a row, which is asked in several ways."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import counts_each_row
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import STRICT_CONDITIONS
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect, negate
from whence.capture.sql.fingerprint.normal_forms.sources.existence import CloseBlock, exists_in
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import not_null, null_tested
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import STRICT, Formula, Formulas


def with_existence(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> list[Formula]:
    """The values with EXISTS in place of other tests for a joined row."""
    rest = list(values)
    for join in block.outer_joins:
        if join.kind == "left" and join.right.is_plain and join.on and not rows_of(join.right.sources[0]).is_open:
            rest = _RowTests(store, join, close).change(rest)
    return rest


class _RowTests:
    """Tests for the row that one join finds."""

    def __init__(self, store: Formulas, join: OuterJoin, close: CloseBlock) -> None:
        self.store = store
        (self.instance,) = join.right.sources
        self.join = join
        self.close = close
        compared = [part for one in join.on if one.op in STRICT_CONDITIONS for part in formulas_of(one)]
        self.keys = frozenset(part for part in compared if part.op == "of" and part.args[0] is self.instance)

    def change(self, values: Sequence[Formula]) -> list[Formula]:
        visit = change_everywhere(self.store, self._changed)
        return [visit(value) for value in values]

    def _exists(self) -> Formula:
        return exists_in(self.store, Block([self.instance], [], list(self.join.on)), self.close)

    def _changed(self, part: Formula) -> Formula:
        if self._is_missing(part):
            return negate(self.store, self._exists())
        if self._is_there(part) or (part.op == "not" and self._is_missing(formulas_of(part)[0])):
            return self._exists()
        if part.op == "case":
            return self._changed_case(part)
        return part

    def _changed_case(self, case: Formula) -> Formula:
        parts = formulas_of(case)
        wanted = self._wanted if len(parts) == 3 else self._counted
        conditions = [wanted(one) for one in parts[:-1:2]]
        if len(parts) == 3 and (value := self._value_of_row(conditions[0], *parts[1:])) is not None:
            return value
        if conditions == parts[:-1:2]:
            return case
        return make_case(self.store, list(zip(conditions, parts[1:-1:2], strict=True)), parts[-1])

    def _value_of_row(self, condition: Formula, value: Formula, default: Formula) -> Formula | None:
        """The value of the joined row that a CASE gives for it alone, if it is NULL anyway without one."""
        for chosen, other, is_missing in ((value, default, False), (default, value, True)):
            found = self._without_default(chosen)
            if other.op == "null" and self._reads(found) and self._asks(condition, is_missing=is_missing):
                return found
        return None

    def _asks(self, condition: Formula, *, is_missing: bool) -> bool:
        """Whether a condition asks for the joined row, or for its absence."""
        if is_missing:
            return self._is_missing(condition) or condition is negate(self.store, self._exists())
        return self._is_there(condition) or condition is self._exists()

    def _without_default(self, value: Formula) -> Formula:
        """A value where a row is joined: the number of its rows needs no default."""
        first = formulas_of(value)[0] if value.op == "coalesce" else value
        return first if self._is_count(first) else value

    def _reads(self, value: Formula) -> bool:
        """Whether a value is NULL where no row is joined."""
        if value.op == "of":
            return value.args[0] is self.instance
        return value.op in STRICT and any(map(self._reads, formulas_of(value)))

    def _is_missing(self, part: Formula) -> bool:
        """IS NULL of a column that a joined row has, and that a group without rows is counted as."""
        tested = null_tested(part)
        if tested is not None:
            return tested in self.keys or self._is_count(tested)
        if part.op != "eq" or not any(integer_of(one) == 0 for one in formulas_of(part)):
            return False
        counted = [one for one in formulas_of(part) if one.op == "coalesce"]
        return len(counted) == 1 and self._is_count(formulas_of(counted[0])[0])

    def _is_there(self, part: Formula) -> bool:
        """`coalesce(count, 0) >= 1` of a group, which has a row if it is joined."""
        low, *rest = formulas_of(part) if part.op == "lte" else [part]
        is_default = bool(rest) and rest[0].op == "coalesce" and integer_of(formulas_of(rest[0])[-1]) == 0
        return is_default and integer_of(low) == 1 and self._is_count(formulas_of(rest[0])[0])

    def _wanted(self, condition: Formula) -> Formula:
        """A condition of a CASE, for which NULL is false."""
        if condition.op in ("and", "or"):
            return connect(self.store, condition.op, [self._wanted(part) for part in formulas_of(condition)])
        low, *rest = formulas_of(condition) if condition.op == "lte" else [condition]
        if rest and integer_of(low) == 1 and self._is_count(rest[0]):
            return self._exists()
        return condition

    def _counted(self, condition: Formula) -> Formula:
        """One of several conditions, which may bound the number of rows: a joined group has at least one."""
        tested = not_null(condition)
        rows = rows_of(self.instance)
        if tested not in self.keys or rows.op != "group" or rows.args[1] == "all rows":
            return condition
        count = self.store.make("of", self.instance, self.store.make("aggregate", "count", self.store.make("star")))
        return self.store.make("lte", self.store.make("number", "1"), count)

    def _is_count(self, value: Formula) -> bool:
        """Whether a value is a number of rows of a joined group that is at least one."""
        rows, inside = rows_of(self.instance), value.args[1] if value.op == "of" else None
        is_group = rows.op == "group" and isinstance(rows.args[1], Formula) and rows.args[1].op == "set"
        is_column = is_group and isinstance(inside, Formula) and value.args[0] is self.instance
        return is_column and counts_each_row(formulas_of(value)[1], formulas_of(rows)[0])
