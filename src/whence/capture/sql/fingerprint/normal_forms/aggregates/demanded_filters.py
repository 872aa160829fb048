"""Filters before grouping that all aggregates have anyway, where a filter of the groups demands such a row.

`SELECT k, min(CASE WHEN c THEN x END) AS y FROM t WHERE c OR d GROUP BY k` has a group for each k with c or d. Where a
filter wants y, that is one with c, so that the WHERE says nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.aggregate_filters import filter_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, rejects_null
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
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
    return block, rest


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
