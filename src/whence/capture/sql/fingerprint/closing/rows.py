"""The rows of a block as one formula, and values over them."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin
from whence.capture.sql.fingerprint.closing.single_rows import keeps_rows
from whence.capture.sql.fingerprint.normal_forms.decisions.decisions import decide_filter, decide_values
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas


class Closing:
    """Replaces instances by what they range over."""

    def __init__(self, store: Formulas, labels: dict[Formula, Formula]) -> None:
        self.store = store
        self.labels = labels
        self._memo: dict[tuple[Formula, int], Formula] = {}

    def close(self, formula: Formula, depth: int = 0) -> Formula:
        if not formula.is_open:
            return formula
        key = (formula, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._close(formula, depth)
        return found

    def filter(self, conditions: Sequence[Formula]) -> Formula:
        """The set of conditions of a filter."""
        closed = [self.close(condition) for condition in conditions]
        return self.store.make("set", *decide_filter(self.store, closed))

    def _close(self, formula: Formula, depth: int) -> Formula:
        if formula.op == "inst":
            label = self.labels.get(formula)
            return formula if label is None else self.store.make("src", depth, label)
        if formula.op == "of":
            instance, inside = formula.args
            assert isinstance(instance, Formula)
            assert isinstance(inside, Formula)
            return self.store.make("of", self.close(instance, depth), self.close(inside, depth + 1))
        inner = depth + (formula.op in BINDERS)
        return self.store.rebuild(formula, lambda part: self.close(part, inner))


def block_rows(closing: Closing, block: Block) -> Formula:
    """The rows of a block. A join that neither adds nor drops a row is not among them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = closing.filter(block.conditions)
    joins = [_join_rows(closing, join) for join in block.outer_joins if not keeps_rows(join)]
    return store.make("block", sources, conditions, store.make("bag", *joins))


def _join_rows(closing: Closing, join: OuterJoin) -> Formula:
    store = closing.store
    left = [block_rows(closing, join.left)] if join.left is not None else []
    right = _nested_rows(closing, join.right)
    on = closing.filter(join.on)
    if left and join.left is not None:
        return store.make("full_join", store.make("bag", _nested_rows(closing, join.left), right), on)
    return store.make("left_join", right, on) if join.kind == "left" else store.make("asof_join", join.kind, right, on)


def _nested_rows(closing: Closing, block: Block) -> Formula:
    """The rows of one side of an outer join; its sources keep their labels, since the condition refers to them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = closing.filter(block.conditions)
    joins = store.make("bag", *(_join_rows(closing, join) for join in block.outer_joins))
    return store.make("side", sources, conditions, joins)


def decide_columns(closing: Closing, label: Formula, values: Sequence[Formula]) -> list[Formula]:
    """Values of a query whose rows are those of one source, as columns of these rows. Their types are known before."""
    columns = _Columns(closing.store, label)
    return [columns.of(value) for value in decide_values(closing.store, [closing.close(value) for value in values])]


class _Columns:
    """Values over the source with a label, as values of its rows."""

    def __init__(self, store: Formulas, label: Formula) -> None:
        self.store = store
        self.source = store.make("src", 0, label)
        self._memo: dict[Formula, Formula] = {}

    def of(self, value: Formula) -> Formula:
        if value.op in BINDERS or not value.args:
            parts = formulas_of(value)
            return parts[1] if value.op == "of" and parts[0] is self.source else value
        found = self._memo.get(value)
        if found is None:
            found = self._memo[value] = self.store.rebuild(value, self.of)
        return found
