"""Subqueries that give one total: as an outer join of the totals of each key, or of the one total."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of
from whence.capture.sql.fingerprint.normal_forms.conditions.matched_columns import matched_column
from whence.capture.sql.fingerprint.normal_forms.sources.existence import key_pair
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import BINDERS, PUSHED_SIZE, Formula, Formulas, is_strict

EMPTY_TOTALS = frozenset({"count", "sum", "avg", "min", "max", "logicalor", "logicaland"})
"""Aggregates of which it is known what they are without rows: 0 for `count`, NULL for the others."""


Change = Callable[[Formula], Formula]
CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def join_scalars(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock, in_values: bool
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with total subqueries as outer joins. `in_values`: those in values too."""
    joins: list[OuterJoin] = []
    visit = _change_scalars(store, lambda scalar: _join_scalar(store, scalar, joins, close))
    conditions = [visit(one) for one in block.conditions]
    rest = [visit(one) for one in values] if in_values else list(values)
    if joins:
        block = replace(block, outer_joins=[*block.outer_joins, *joins], conditions=conditions)
    return block, rest


def join_rows_of_keys(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values, with subqueries in values that find one row by a whole key as outer joins.

    Such a join repeats no row, so groups and windows may read it as well.
    """
    joins: list[OuterJoin] = []

    def join_row(scalar: Formula) -> Formula:
        found = _row_of_key(store, *scalar.parts) if len(scalar.parts) == 2 else None
        if found is None:
            return scalar
        joins.append(found[0])
        return found[1]

    rest = [*map(_change_scalars(store, join_row), values)]
    return replace(block, outer_joins=[*block.outer_joins, *joins]) if joins else block, rest


def _change_scalars(store: Formulas, change: Change) -> Change:
    """Change the subqueries in a value that are not inside of others."""
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if not part.has_scalar:
            return part
        found = memo.get(part)
        if found is None:
            found = memo[part] = change(part) if part.op == "scalar" else store.rebuild(part, visit)
        return found

    return visit


def _join_scalar(store: Formulas, scalar: Formula, joins: list[OuterJoin], close: CloseBlock) -> Formula:
    """What a scalar subquery becomes: itself, if it is no total or depends on its row otherwise than by equality."""
    parts = [*scalar.parts]
    has_total = len(parts) == 2 and parts[0].op == "group" and parts[0].args[1] == "all rows"
    if len(parts) == 2 and not has_total and (found := _row_of_key(store, *parts)) is not None:
        joins.append(found[0])
        return found[1]
    if not has_total or not _is_plain_total(parts[1]) or scalar.is_volatile:
        return scalar
    rows, total = parts
    try:
        join, value = _totals(store, rows, total, close) if scalar.is_open else _total(store, rows, total)
    except ForeignSourceError:
        return scalar
    joins.append(join)
    return value


def _row_of_key(store: Formulas, rows: Formula, value: Formula) -> tuple[OuterJoin, Formula] | None:
    """The one row that a correlated subquery finds by a whole key, as an outer join.

    A value that is not NULL without a row would not be that of the subquery.
    """
    if rows.op != "block" or rows.is_volatile or value.is_volatile or not is_strict(value):
        return None
    try:
        opened = Reopened(store, rows)
        found = opened.open(value)
    except ForeignSourceError:
        return None
    if len(opened.block.sources) != 1 or found.has_aggregate or found.has_window:
        return None
    (only,) = opened.block.sources
    if any(one.has_aggregate or one.has_window for one in opened.block.conditions):
        return None
    outside = [matched_column(one, only) for one in opened.block.conditions]
    keys = (tuple(store.push(column, only) for column in key.columns) for key in unique_keys(rows_of(only)))
    if rows_of(only).is_open or not any(all(column in outside for column in columns) for columns in keys):
        return None
    return OuterJoin("left", Block([only]), opened.block.conditions), found


def _is_plain_total(value: Formula) -> bool:
    return value.has_aggregate and not value.has_window and value.size <= PUSHED_SIZE


def _total(store: Formulas, rows: Formula, value: Formula) -> tuple[OuterJoin, Formula]:
    instance = store.instance(rows)
    return OuterJoin("left", Block([instance]), []), store.push(value, instance)


def _totals(store: Formulas, rows: Formula, value: Formula, close: CloseBlock) -> tuple[OuterJoin, Formula]:
    """The totals of all keys that a correlated subquery may look for. Raises ForeignSourceError if it uses no keys."""
    (inside,) = rows.parts
    reopened = Reopened(store, inside)
    own = set(reopened.block.sources)
    correlated = [one for one in reopened.block.conditions if not instances_of(one) <= own]
    pairs = [key_pair(one, own) for one in correlated]
    opened, rest = reopened.open_total(value), [one for one in reopened.block.conditions if one not in correlated]
    if not {one.args[0] for one in aggregates_of(value)} <= EMPTY_TOTALS:
        raise ForeignSourceError
    if not pairs or not instances_of(opened) <= own or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    keys = list(dict.fromkeys(key for key, _ in pairs))
    closed_rows, closed = close(store, Block([*reopened.block.sources], [], rest), [*keys, opened])
    grouped = store.instance(store.make("group", closed_rows, store.make("set", *closed[:-1])))
    places = dict(zip(keys, (store.push(key, grouped) for key in closed[:-1]), strict=True))
    on = [store.make("eq", places[key], outer) for key, outer in pairs]
    return OuterJoin("left", Block([grouped]), on), with_zeros(store, store.push(closed[-1], grouped))


def with_zeros(store: Formulas, value: Formula) -> Formula:
    """A total of no rows is NULL, but a number of them is 0."""
    if value.op == "of":
        inside = value.args[1]
        is_count = isinstance(inside, Formula) and inside.op == "aggregate" and inside.args[0] == "count"
        return make_coalesce(store, [value, store.make("number", "0")]) if is_count else value
    if value.op in BINDERS or not value.is_open:
        return value
    return store.rebuild(value, lambda part: with_zeros(store, part))


def join_totals(block: Block) -> Block:
    """The block with sources of exactly one row, a total, as outer joins that always find it."""
    totals = [one for one in block.sources if is_total(one)]
    others = [one for one in block.sources if one not in totals]
    if not totals or not others:
        return block
    joins = [OuterJoin("left", Block([one]), []) for one in totals]
    return replace(block, sources=others, outer_joins=[*block.outer_joins, *joins])


def is_total(instance: Formula) -> bool:
    """Whether a source has exactly one row."""
    rows = rows_of(instance)
    return rows.op == "group" and rows.args[1] == "all rows" and not rows.is_open
