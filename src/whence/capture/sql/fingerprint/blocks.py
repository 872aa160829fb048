"""Blocks: the rows of a query as sources, joins and conditions, in an order-free normal form.

A block is open while other queries may still become part of it: a subquery without grouping, windows or limits is the
same as its sources and conditions in the query around it. `close_block` turns it into one formula for its rows.
"""

from collections.abc import Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import NEAREST, NEAREST_OR_NONE, Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.aggregates.demanded_filters import without_repeated_filters
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import counts_each_row
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import is_unique
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed_keys import without_fixed_keys
from whence.capture.sql.fingerprint.normal_forms.aggregates.flags import count_known
from whence.capture.sql.fingerprint.normal_forms.aggregates.joined_totals import totals_as_windows
from whence.capture.sql.fingerprint.normal_forms.aggregates.window_filters import filter_before_windows
from whence.capture.sql.fingerprint.normal_forms.aggregates.windows import number_rows
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_numbering, normalize_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.equalities import merge_equalities
from whence.capture.sql.fingerprint.normal_forms.conditions.matched_columns import matched_column
from whence.capture.sql.fingerprint.normal_forms.decisions.decisions import decide_filter, decide_values
from whence.capture.sql.fingerprint.normal_forms.joins.equal_columns import read_one_of_equal, with_outer_columns
from whence.capture.sql.fingerprint.normal_forms.joins.lookups import look_up
from whence.capture.sql.fingerprint.normal_forms.joins.missing_rows import with_existence
from whence.capture.sql.fingerprint.normal_forms.joins.missing_sides import order_missing_sides
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import (
    filter_right_sides,
    inner_views,
    normalize_joins,
)
from whence.capture.sql.fingerprint.normal_forms.joins.self_joins import normalize_sources
from whence.capture.sql.fingerprint.normal_forms.sources.existence import (
    anti_joins,
    members_as_existence,
    semi_joins,
    without_repeated_existence,
)
from whence.capture.sql.fingerprint.normal_forms.sources.last_rows import (
    join_extremes,
    number_extremes,
    with_keys_of_extremes,
)
from whence.capture.sql.fingerprint.normal_forms.sources.laterals import join_laterals
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import join_scalars, join_totals
from whence.capture.sql.fingerprint.normal_forms.sources.series import days_of_numbers
from whence.capture.sql.fingerprint.normal_forms.sources.union_filters import filter_branches
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.values.known import known_values
from whence.capture.sql.provenance.formulas import BINDERS, PUSHED_SIZE, Formula, Formulas


def close_block(
    store: Formulas, block: Block, values: Sequence[Formula], in_values: bool = True
) -> tuple[Formula, list[Formula]]:
    """The rows of a complete block, and values over them, without reference to its instances.

    `in_values`: the values are those of a complete query, so that total subqueries in them may become joins.
    """
    block, values = days_of_numbers(store, block, values)
    block, values = join_laterals(store, block, values, close_block)
    block, values = without_repeated_filters(store, _normalize_conditions(store, block), values, close_block)
    block, values = without_fixed_keys(store, block, values, close_block)
    block, values = filter_branches(store, block, values, close_block)
    block, values = join_scalars(store, block, values, close_block, in_values)
    block = normalize_joins(store, join_totals(block), values, close_block)
    block, values = look_up(store, block, values)
    block, values = filter_right_sides(store, block, values, close_block)
    block, values = inner_views(store, block, values)
    block = _normalize_conditions(store, block)
    block, values = normalize_sources(store, replace(block, conditions=_without_known(store, block)), values)
    block = join_extremes(store, with_keys_of_extremes(store, block), close_block)
    block, values = totals_as_windows(store, block, values, close_block)
    numbered = number_extremes(store, block)
    if numbered is not block:
        block, values = normalize_sources(store, replace(numbered, conditions=_without_known(store, numbered)), values)
    block = without_repeated_existence(
        store, anti_joins(store, semi_joins(store, block, values, close_block), close_block)
    )
    values = members_as_existence(store, block, with_existence(store, block, values, close_block), close_block)
    block, values = filter_before_windows(store, block, values, close_block)
    values = _without_frames(store, block, values)
    values = known_values(store, block.conditions, values, block.sources)
    values = _order_sides(store, block, values)
    conditions = [count_known(store, block.sources, one) for one in _without_known(store, block)]
    block = replace(block, conditions=conditions)
    block = replace(block, conditions=_without_certain(store, block))
    block, values = _read_one_of_equal(store, block, values)
    block = replace(block, conditions=merge_equalities(store, block.conditions))
    if block.is_plain:
        (only,) = block.sources
        label = store.make("label", rows_of(only))
        return rows_of(only), _decide_columns(_Closing(store, {only: label}), label, values)
    closing = _Closing(store, _label_sources(store, block, values))
    if len(block.sources) == 1 and not block.conditions and all(map(_keeps_rows, block.outer_joins)):
        (only,) = block.sources
        return rows_of(only), _decide_columns(closing, closing.labels[only], values)
    known = formulas_of(closing.filter(block.conditions))
    return _block_rows(closing, block), decide_values(store, [closing.close(value) for value in values], known)


def _read_one_of_equal(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    if len(block.sources) < 2 and not any(join.kind == "full" for join in block.outer_joins):
        return block, list(values)
    closing = _Closing(store, _label_sources(store, block, []))
    return read_one_of_equal(store, block, values, lambda column: closing.close(column).digest)


def _order_sides(store: Formulas, block: Block, values: Sequence[Formula]) -> list[Formula]:
    if not any(join.kind == "full" for join in block.outer_joins):
        return list(values)
    closing = _Closing(store, _label_sources(store, block, []))
    return order_missing_sides(store, block, values, lambda condition: closing.close(condition).digest)


def _without_frames(store: Formulas, block: Block, values: Sequence[Formula]) -> list[Formula]:
    """The values without frames and ranks that say nothing, since no two rows are equal in their order."""
    if not any(value.has_window for value in values):
        return list(values)
    return [number_rows(store, lambda columns: is_unique(store, block, columns), value) for value in values]


def _normalize_conditions(store: Formulas, block: Block) -> Block:
    joins = [replace(join, on=normalize_filter(store, with_outer_columns(store, join))) for join in block.outer_joins]
    return replace(block, outer_joins=joins, conditions=normalize_filter(store, block.conditions))


def _without_known(store: Formulas, block: Block) -> list[Formula]:
    """The conditions without tests of columns for NULL that the rows of their sources do not have."""
    small = [one for one in block.conditions if one.size <= PUSHED_SIZE]
    large = [one for one in block.conditions if one.size > PUSHED_SIZE]
    return normalize_filter(store, [*known_values(store, [], small, block.sources), *large])


def _without_certain(store: Formulas, block: Block) -> list[Formula]:
    """The conditions without those that each group has at least one row, or one value that is not NULL, and that each
    row has a number or a rank.
    """
    one = store.make("number", "1")
    grouped = [source for source in block.sources if rows_of(source).op == "group" and _has_keys(rows_of(source))]

    def is_certain(condition: Formula) -> bool:
        if condition.op != "lte" or condition.args[0] is not one:
            return False
        value = formulas_of(condition)[1]
        if value.op == "of" and value.args[0] in block.sources and is_numbering(formulas_of(value)[1]):
            return True
        if value.op != "of" or value.args[0] not in grouped:
            return False
        source, inside = formulas_of(value)
        return counts_each_row(inside, formulas_of(rows_of(source))[0])

    return [condition for condition in block.conditions if not is_certain(condition)]


def _has_keys(group: Formula) -> bool:
    keys = group.args[1]
    return isinstance(keys, Formula) and keys.op == "set" and bool(keys.args)


def copy_block(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same block over instances of its own."""
    renamed: dict[Formula, Formula] = {}
    own = set(block.instances())

    def rename(formula: Formula) -> Formula:
        if not formula.is_open:
            return formula
        found = renamed.get(formula)
        if found is None:
            is_own = formula in own
            found = store.instance(rename(rows_of(formula))) if is_own else store.rebuild(formula, rename)
            if formula.op == "inst" and not is_own:
                found = formula
            renamed[formula] = found
        return found

    def copy(one: Block) -> Block:
        joins = [
            OuterJoin(join.kind, copy(join.right), [*map(rename, join.on)], copy(join.left) if join.left else None)
            for join in one.outer_joins
        ]
        return Block([*map(rename, one.sources)], joins, [*map(rename, one.conditions)])

    return copy(block), [rename(value) for value in values]


def mentions(formula: Formula, instance: Formula) -> bool:
    """Whether a formula reads an instance."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part is instance:
            return True
        if part.is_open and part not in seen:
            seen.add(part)
            remaining += part.parts
    return False


def _decide_columns(closing: "_Closing", label: Formula, values: Sequence[Formula]) -> list[Formula]:
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


class _Closing:
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


def _block_rows(closing: _Closing, block: Block) -> Formula:
    """The rows of a block. A join that neither adds nor drops a row is not among them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = closing.filter(block.conditions)
    joins = [_join_rows(closing, join) for join in block.outer_joins if not _keeps_rows(join)]
    return store.make("block", sources, conditions, store.make("bag", *joins))


def _join_rows(closing: _Closing, join: OuterJoin) -> Formula:
    store = closing.store
    left = [_block_rows(closing, join.left)] if join.left is not None else []
    right = _nested_rows(closing, join.right)
    on = closing.filter(join.on)
    if left and join.left is not None:
        return store.make("full_join", store.make("bag", _nested_rows(closing, join.left), right), on)
    return store.make("left_join", right, on) if join.kind == "left" else store.make("asof_join", join.kind, right, on)


def _nested_rows(closing: _Closing, block: Block) -> Formula:
    """The rows of one side of an outer join; its sources keep their labels, since the condition refers to them."""
    store = closing.store
    sources = store.make("bag", *(closing.close(source) for source in block.sources))
    conditions = closing.filter(block.conditions)
    joins = store.make("bag", *(_join_rows(closing, join) for join in block.outer_joins))
    return store.make("side", sources, conditions, joins)


def _keeps_rows(join: OuterJoin) -> bool:
    """Whether a LEFT JOIN finds at most one row: the condition gives a value for each column of a key."""
    if join.kind == NEAREST_OR_NONE and _is_single(join.right):
        return True
    if join.kind != "left" or not _is_single(join.right):
        return False
    (instance,) = join.right.sources
    return any(_sets_all(join, instance, key.columns) for key in unique_keys(rows_of(instance)))


def _sets_all(join: OuterJoin, instance: Formula, columns: Sequence[Formula]) -> bool:
    store = instance.store
    matched = {matched_column(on, instance) for on in join.on}
    return all({store.make("of", instance, key), store.push(key, instance)} & matched for key in columns)


def _is_single(block: Block) -> bool:
    return block.is_plain


def _label_sources(store: Formulas, block: Block, values: Sequence[Formula]) -> dict[Formula, Formula]:
    """A label for each instance: its rows, with a number if several are the same."""
    labels: dict[Formula, Formula] = {}
    nested = [one for one in block.instances() if one not in block.sources]
    provisional = {
        one: store.make("label", store.make("provisional", one.args[1] if not rows_of(one).is_open else "lateral"))
        for one in (*block.sources, *nested)
    }
    first = _Closing(store, provisional)
    for one in block.sources:
        provisional[one] = store.make("label", first.close(rows_of(one), 1))
    _number(store, block, values, provisional, labels)
    for join in block.outer_joins:
        _label_joined(store, join, labels)
    return labels


def _number(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    provisional: dict[Formula, Formula],
    labels: dict[Formula, Formula],
) -> None:
    """Number the sources with the same rows by how conditions and values use them, then by their order."""
    groups: dict[Formula, list[Formula]] = {}
    for one in block.sources:
        groups.setdefault(provisional[one], []).append(one)
    for label, members in groups.items():
        if len(members) > 1:
            members.sort(key=lambda one: _uses(store, block, values, provisional, one))
        for number, one in enumerate(members):
            labels[one] = store.make("label", label, number) if number else label


def _uses(
    store: Formulas, block: Block, values: Sequence[Formula], provisional: dict[Formula, Formula], one: Formula
) -> tuple[list[bytes], list[bytes]]:
    closing = _Closing(store, {**provisional, one: store.make("label", "self")})
    conditions = [*block.conditions, *(on for join in block.outer_joins for on in join.on)]
    used = sorted(condition.digest for condition in formulas_of(closing.filter(conditions)))
    return used, sorted(closing.close(value).digest for value in values)


def _label_joined(store: Formulas, join: OuterJoin, labels: dict[Formula, Formula]) -> None:
    """Label the sources of an outer join: a single one by its condition, so that its columns depend on it.

    Two joins that find the same one row have one label.
    """
    if join.kind in ("left", NEAREST, NEAREST_OR_NONE) and _is_single(join.right):
        (one,) = join.right.sources
        closing = _Closing(store, {**labels, one: store.make("label", "self")})
        on = closing.filter(join.on)
        kind = () if join.kind == "left" else ("asof",)
        content = store.make("joined", closing.close(rows_of(one), 1), on, *kind)
        if join.kind == "left" and _keeps_rows(join):
            labels[one] = store.make("label", content)
        else:
            _take_label(store, content, one, labels)
        return
    for side in (join.left, join.right):
        for one in side.instances() if side is not None else ():
            closing = _Closing(store, labels)
            _take_label(store, store.make("side", join.kind, closing.close(rows_of(one), 1)), one, labels)


def _take_label(store: Formulas, content: Formula, one: Formula, labels: dict[Formula, Formula]) -> None:
    taken = set(labels.values())
    number = 0
    label = store.make("label", content)
    while label in taken:
        number += 1
        label = store.make("label", content, number)
    labels[one] = label
