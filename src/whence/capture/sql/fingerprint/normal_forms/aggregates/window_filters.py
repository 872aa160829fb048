"""Filters behind a subquery with window functions that choose whole partitions: they stand before the windows.

So it does not matter whether a query computes its windows in a subquery.
"""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import (
    common_partition,
    is_existence_by_keys,
    without_partition_filters,
)
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def filter_before_windows(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, of one source that is filtered before its window functions."""
    if len(block.sources) != 1 or block.outer_joins or not block.conditions:
        return block, list(values)
    (source,) = block.sources
    used = columns_of(source, [*values, *block.conditions])
    if rows_of(source).is_open or rows_of(source).is_volatile or not any(one.has_window for one in used):
        return block, list(values)
    try:
        return _filtered(store, block, values, used, close)
    except ForeignSourceError:
        return block, list(values)


def _filtered(
    store: Formulas, block: Block, values: Sequence[Formula], used: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    (source,) = block.sources
    inside = Reopened(store, rows_of(source))
    columns = [inside.open_window(one) for one in used]
    known = dict(_pairs(store, source, used, columns))
    opened = change_everywhere(store, lambda part: known.get(part, part))
    before = {one: opened(one) for one in block.conditions}
    chosen = [one for one in block.conditions if _chooses_partitions(store, inside.block, before[one], columns)]
    if not chosen:
        return block, list(values)
    filtered = Block(inside.block.sources, [], [*inside.block.conditions, *(before[one] for one in chosen)])
    rows, closed = close(store, filtered, columns)
    after = store.instance(rows)
    moved = dict(_pairs(store, source, used, [store.push(one, after) for one in closed]))
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    rest = [visit(one) for one in block.conditions if one not in chosen]
    return Block([after], [], rest), [visit(value) for value in values]


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
