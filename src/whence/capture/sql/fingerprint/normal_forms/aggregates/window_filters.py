"""Filters behind a subquery with window functions that choose whole partitions: they stand before the windows.

So it does not matter whether a query computes its windows in a subquery. Of rows with the first rank by a value, with
NULLs last, those without the value may be left out before ranking, too.
"""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import windows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import (
    common_partition,
    is_existence_by_keys,
    without_partition_filters,
)
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import not_null
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def filter_before_windows(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, of sources that are filtered before their window functions."""
    rest = list(values)
    for source in list(block.sources) if block.conditions else ():
        joins = [part for join in block.outer_joins for part in join.formulas()]
        used = columns_of(source, [*rest, *block.conditions, *joins, *map(rows_of, block.sources)])
        if rows_of(source).is_open or rows_of(source).is_volatile or not any(one.has_window for one in used):
            continue
        try:
            block, rest = _filtered(store, block, rest, source, used, close)
        except ForeignSourceError:
            continue
    return block, rest


def _filtered(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    source: Formula,
    used: Sequence[Formula],
    close: CloseBlock,
) -> tuple[Block, list[Formula]]:
    inside = Reopened(store, rows_of(source))
    columns = [inside.open_window(one) for one in used]
    known = dict(_pairs(store, source, used, columns))
    opened = change_everywhere(store, lambda part: known.get(part, part))
    before = {one: opened(one) for one in block.conditions if instances_of(one) == {source}}
    chosen = [one for one in before if _chooses_partitions(store, inside.block, before[one], columns)]
    chosen += _tests_of_first_values(store, before, columns)
    if not chosen:
        return block, list(values)
    filtered = Block(inside.block.sources, [], [*inside.block.conditions, *(before[one] for one in chosen)])
    rows, closed = close(store, filtered, columns)
    after = store.instance(rows)
    moved = dict(_pairs(store, source, used, [store.push(one, after) for one in closed]))
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    sources = [after if one is source else one for one in block.sources]
    rest = [one for one in block.conditions if one not in chosen]
    changed = change_block(Block(sources, block.outer_joins, rest, block.is_used), visit)
    return changed, [visit(value) for value in values]


def _tests_of_first_values(
    store: Formulas, before: dict[Formula, Formula], columns: Sequence[Formula]
) -> list[Formula]:
    """The conditions that the value by which rows are ranked is not NULL, where the first ones are wanted."""
    windows = {one for column in columns for one in windows_of(column)}
    if len(windows) != 1:
        return []
    (window,) = windows
    orders = [one for one in formulas_of(window) if one.op == "list"]
    first = orders[-1].parts[0] if orders and orders[-1].parts else None
    is_first = store.make("eq", window, store.make("number", "1")) in before.values()
    if not is_first or first is None or window.args[0] != "rank" or "nulls_first" in first.args:
        return []
    return [one for one in before if not_null(before[one]) is first.parts[-1]]


def _pairs(
    store: Formulas, source: Formula, used: Sequence[Formula], found: Sequence[Formula]
) -> list[tuple[Formula, Formula]]:
    """What is read of a source, and what it is."""
    return [(store.make("of", source, old), new) for old, new in zip(used, found, strict=True)]


def _chooses_partitions(store: Formulas, block: Block, condition: Formula, columns: Sequence[Formula]) -> bool:
    """Whether a condition keeps all rows of a partition or none, for the windows of all columns."""
    if condition.has_window:
        return False
    if is_existence_by_keys(condition, common_partition(columns), frozenset(block.sources)):
        return True
    parts = normalize_filter(store, [condition])
    alone = Block(block.sources, [], parts)
    return bool(parts) and len(without_partition_filters(store, alone, columns)[1]) == len(parts)
