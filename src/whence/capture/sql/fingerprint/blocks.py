"""Blocks: the rows of a query as sources, joins and conditions, in an order-free normal form.

A block is open while other queries may still become part of it: a subquery without grouping, windows or limits is the
same as its sources and conditions in the query around it. `close_block` turns it into one formula for its rows.
"""

from collections.abc import Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, rows_of
from whence.capture.sql.fingerprint.closing.labels import label_sources
from whence.capture.sql.fingerprint.closing.rows import Closing, block_rows, decide_columns
from whence.capture.sql.fingerprint.closing.single_rows import keeps_rows
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
from whence.capture.sql.fingerprint.normal_forms.decisions.decisions import decide_values
from whence.capture.sql.fingerprint.normal_forms.joins.counted_keys import count_rows_of_keys
from whence.capture.sql.fingerprint.normal_forms.joins.equal_columns import read_one_of_equal, with_outer_columns
from whence.capture.sql.fingerprint.normal_forms.joins.key_existence import join_existence
from whence.capture.sql.fingerprint.normal_forms.joins.lookups import look_up
from whence.capture.sql.fingerprint.normal_forms.joins.missing_rows import with_existence
from whence.capture.sql.fingerprint.normal_forms.joins.missing_sides import order_missing_sides
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import (
    filter_right_sides,
    inner_views,
    normalize_joins,
)
from whence.capture.sql.fingerprint.normal_forms.joins.self_joins import normalize_sources
from whence.capture.sql.fingerprint.normal_forms.joins.sought_rows import without_sought_rows
from whence.capture.sql.fingerprint.normal_forms.sources.existence import (
    anti_joins,
    members_as_existence,
    semi_joins,
    without_repeated_existence,
)
from whence.capture.sql.fingerprint.normal_forms.sources.last_rows import (
    join_extremes,
    number_extremes,
    rank_extremes,
    with_keys_of_extremes,
)
from whence.capture.sql.fingerprint.normal_forms.sources.laterals import join_laterals
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import join_scalars, join_totals
from whence.capture.sql.fingerprint.normal_forms.sources.series import days_of_numbers
from whence.capture.sql.fingerprint.normal_forms.sources.union_filters import filter_branches
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.values.known import known_values
from whence.capture.sql.provenance.formulas import PUSHED_SIZE, Formula, Formulas


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
    block, values = count_rows_of_keys(store, block, values)
    block, values = without_sought_rows(store, block, values, close_block)
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
    joined = join_existence(store, block)
    if joined is not block:
        block, values = normalize_sources(store, replace(joined, conditions=_without_known(store, joined)), values)
    values = _without_frames(store, block, rank_extremes(store, block, values))
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
        return rows_of(only), decide_columns(Closing(store, {only: label}), label, values)
    closing = Closing(store, label_sources(store, block, values))
    if len(block.sources) == 1 and not block.conditions and all(map(keeps_rows, block.outer_joins)):
        (only,) = block.sources
        return rows_of(only), decide_columns(closing, closing.labels[only], values)
    known = formulas_of(closing.filter(block.conditions))
    return block_rows(closing, block), decide_values(store, [closing.close(value) for value in values], known)


def _read_one_of_equal(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    if len(block.sources) < 2 and not any(join.kind == "full" for join in block.outer_joins):
        return block, list(values)
    closing = Closing(store, label_sources(store, block, []))
    return read_one_of_equal(store, block, values, lambda column: closing.close(column).digest)


def _order_sides(store: Formulas, block: Block, values: Sequence[Formula]) -> list[Formula]:
    if not any(join.kind == "full" for join in block.outer_joins):
        return list(values)
    closing = Closing(store, label_sources(store, block, []))
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
