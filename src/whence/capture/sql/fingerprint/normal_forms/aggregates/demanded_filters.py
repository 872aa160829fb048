"""Filters before grouping that all aggregates have anyway, where a filter of the groups demands such a row.

`SELECT k, min(CASE WHEN c THEN x END) AS y FROM t WHERE c OR d GROUP BY k` has a group for each k with c or d. Where a
filter wants y, that is one with c, so that the WHERE says nothing. Groups of which nothing is read but their keys and
that they have some row are those of such rows: `GROUP BY k HAVING count(*) FILTER (WHERE c) > 0` is `WHERE c GROUP BY
k`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.aggregate_filters import filter_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, not_null
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]
_OF_VALUES = frozenset({"sum", "avg", "min", "max"})
"""Aggregates that are NULL without a value."""


def without_repeated_filters(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, of groups without such filters."""
    rest = list(values)
    for group in block.sources if block.conditions else ():
        rows = rows_of(group)
        is_set = rows.op == "group" and len(rows.parts) == len(("rows", "keys")) and rows.parts[1].op == "set"
        if not is_set or not rows.parts[1].args or rows.is_open or rows.is_volatile:
            continue
        joins = [part for join in block.outer_joins for part in join.formulas()]
        others = [one for one in block.sources if one is not group]
        columns = columns_of(group, [*rest, *block.conditions, *joins, *others])
        totals = [one for one in columns if one.op == "aggregate"]
        is_plain = all(one in totals or one in rows.parts[1].parts for one in columns)
        if is_plain and any(_demands(one, group, total) for one in block.conditions for total in totals):
            try:
                block, rest = _unfiltered(store, block, rest, group, totals, close)
            except ForeignSourceError:
                continue
    return filter_demanded_groups(store, block, rest, close)


def _demands(condition: Formula, group: Formula, total: Formula) -> bool:
    """Whether a condition rejects a group in which an aggregate takes no row."""
    column = group.store.make("of", group, total)
    if total.args[0] == "count":
        low, *high = formulas_of(condition) if condition.op == "lte" else [condition]
        return high == [column] and (integer_of(low) or 0) >= 1
    return total.args[0] in _OF_VALUES and rejects_null(condition, column)


def _unfiltered(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    group: Formula,
    totals: Sequence[Formula],
    close: CloseBlock,
) -> tuple[Block, list[Formula]]:
    """Raises ForeignSourceError if the rows of the group do not show what these read."""
    inside, keys = rows_of(group).parts
    opened = Reopened(store, inside)
    taken = [opened.open_total(one) for one in totals]
    conditions = opened.block.conditions
    kept = [one for one in conditions if one.has_window or not all(_is_filtered(total, one) for total in taken)]
    if len(kept) == len(conditions) or any(one.is_volatile for one in conditions):
        return block, [*values]
    own = [opened.open(one) for one in keys.parts]
    rows, closed = close(store, replace(opened.block, conditions=kept), [*own, *taken])
    made = store.make("group", rows, store.make("set", *closed[: len(own)]))
    instance = store.instance(made)
    pairs = zip((*keys.parts, *totals), closed, strict=True)
    moved = {store.make("of", group, old): store.push(new, instance) for old, new in pairs}
    moved[group] = instance
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    sources = [instance if one is group else one for one in block.sources]
    return change_block(replace(block, sources=sources), visit), [*map(visit, values)]


def _is_filtered(total: Formula, condition: Formula) -> bool:
    """Whether an aggregate takes only rows for which a condition holds."""
    found = filter_of(total.store, total)
    return found is not None and _entails(found[1], condition)


def _entails(condition: Formula, other: Formula) -> bool:
    """Whether another condition holds wherever a condition does."""
    if other.op == "and":
        return all(_entails(condition, part) for part in formulas_of(other))
    parts = formulas_of(condition) if condition.op == "and" else [condition]
    if any(part is other or implies(part, other) for part in parts):
        return True
    return other.op == "or" and any(_entails(condition, part) for part in formulas_of(other))


def filter_demanded_groups(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with a filter of rows in place of a number of rows that each group must have."""
    rest = list(values)
    for condition in block.conditions:
        group = _counted_group(condition)
        if group is None or group not in block.sources:
            continue
        others = [one for one in block.conditions if one is not condition]
        joins = [part for join in block.outer_joins for part in join.formulas()]
        sources = [one for one in block.sources if one is not group]
        columns = columns_of(group, [*rest, *others, *joins, *sources])
        _, keys = rows_of(group).parts
        if not columns or not set(columns) <= set(keys.parts):
            continue
        try:
            made, moved = _filtered_groups(store, group, condition, close)
        except ForeignSourceError:
            continue
        visit = change_everywhere(store, lambda part, moved=moved: moved.get(part, part))  # type: ignore[misc]
        sources = [made if one is group else one for one in block.sources]
        block = change_block(replace(block, sources=sources, conditions=others), visit)
        rest = [visit(value) for value in rest]
    return block, rest


def _demanded_column(condition: Formula) -> Formula | None:
    """The column of a group that is at least 1, or not NULL, by a condition."""
    low, *high = formulas_of(condition) if condition.op == "lte" else [condition]
    column = high[0] if high and low is condition.store.make("number", "1") else not_null(condition)
    is_count = column is not None and column.op == "of" and column.parts[1].args[:1] == ("count",)
    return column if column is not None and column.op == "of" and bool(high) is is_count else None


def _counted_group(condition: Formula) -> Formula | None:
    """The grouped source of which a condition wants one row at least that an aggregate takes."""
    column = _demanded_column(condition)
    if column is None or column.parts[0].op != "inst" or column.parts[1].is_volatile:
        return None
    group, total = column.parts
    rows = rows_of(group)
    is_set = rows.op == "group" and len(rows.parts) == len(("rows", "keys")) and rows.parts[1].op == "set"
    is_plain = total.op == "aggregate" and _taken(total) is not None
    return group if is_set and is_plain and rows.parts[1].parts and not (rows.is_open or rows.is_volatile) else None


def _taken(total: Formula) -> Formula | None:
    """The value that an aggregate takes, of which a number is not 0 and a total not NULL if one of them is not NULL."""
    match total.args:
        case ("count", Formula() as value) if value.op != "star":
            return distinct_value(value) if value.op == "distinct" else value
        case ("sum" | "avg" | "min" | "max", "this", Formula() as value) if value.op != "distinct":
            return value
    return None


def _filtered_groups(
    store: Formulas, group: Formula, condition: Formula, close: CloseBlock
) -> tuple[Formula, dict[Formula, Formula]]:
    """The groups of the rows that are counted, and what becomes of their keys. Raises ForeignSourceError."""
    inside, keys = rows_of(group).parts
    opened = Reopened(store, inside)
    column = _demanded_column(condition)
    taken = _taken(opened.open_total(column.parts[1])) if column is not None else None
    wanted = _is_there(store, taken) if taken is not None else []
    own = [opened.open(one) for one in keys.parts]
    filtered = replace(opened.block, conditions=[*opened.block.conditions, *wanted])
    rows, closed = close(store, filtered, own)
    made = store.instance(store.make("group", rows, store.make("set", *closed)))
    pairs = zip(keys.parts, closed, strict=True)
    return made, {store.make("of", group, old): store.push(new, made) for old, new in pairs}


def _is_there(store: Formulas, value: Formula) -> list[Formula]:
    """The conditions that a value, which may be one with a filter, is not NULL."""
    parts = formulas_of(value)
    is_filtered = value.op == "case" and len(parts) == len(("condition", "value", "else")) and parts[2].op == "null"
    condition, inside = (parts[0], parts[1]) if is_filtered else (store.make("boolean", "true"), value)
    return [condition] if is_literal(inside) else [condition, negate(store, is_null(inside))]
