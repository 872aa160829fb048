"""Joins that find one row at most, behind the window functions of a query that do not read it.

`SELECT rank() OVER (ORDER BY t.o), p.c FROM t LEFT JOIN p ON p.id = t.k` ranks the rows of t: the join neither adds nor
drops one. So it is the join of a subquery with the rank.
"""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import windows_of
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import columns_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]
KeepsRows = Callable[[OuterJoin], bool]


def windows_before_lookups(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock, keeps_rows: KeepsRows
) -> tuple[Block, list[Formula]]:
    """The same rows and values, whose window functions are those of complete rows, to which such joins are added."""
    windows = list(dict.fromkeys(part for value in values if value.has_window for part in windows_of(value)))
    joins = _later(block, windows, keeps_rows) if windows and block.outer_joins else []
    rest = Block(block.sources, [one for one in block.outer_joins if one not in joins], block.conditions)
    is_needed = bool(joins) and not rest.is_plain  # one source keeps its rows beside such joins
    columns = (
        _columns(store, rest, [*values, *(on for join in joins for on in join.on)], windows) if is_needed else None
    )
    if columns is None:
        return block, list(values)
    rows, closed = close(store, rest, [*windows, *columns])
    after = store.instance(rows)
    moved = {old: store.push(new, after) for old, new in zip((*windows, *columns), closed, strict=True)}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    return change_block(Block([after], joins, []), visit), [visit(value) for value in values]


def _later(block: Block, windows: Sequence[Formula], keeps_rows: KeepsRows) -> list[OuterJoin]:
    """The joins that decide neither on window functions nor on rows."""
    kept: list[OuterJoin] = []
    for join in block.outer_joins[::-1]:
        others = [one for one in block.outer_joins if one not in kept and one is not join]
        readers = [*windows, *block.conditions, *(part for one in others for part in one.formulas())]
        is_plain = join.kind == "left" and keeps_rows(join) and not rows_of(join.right.sources[0]).is_open
        is_read = any(not instances_of(one).isdisjoint(join.right.instances()) for one in readers)
        if is_plain and not is_read and not any(one.has_window or one.is_volatile for one in join.on):
            kept.insert(0, join)
    return kept


def _columns(
    store: Formulas, block: Block, values: Sequence[Formula], windows: Sequence[Formula]
) -> list[Formula] | None:
    """The columns of the sources of a block that values read outside of window functions. None if one reads a source
    otherwise.
    """
    null, gone = store.make("null"), frozenset(windows)
    outside = change_everywhere(store, lambda part: null if part in gone else part)
    readers = [*map(outside, values)]
    found: list[Formula] = []
    for source in block.instances():
        columns = columns_of(source, readers)
        if not columns and any(source in instances_of(one) for one in readers):
            return None
        found += [store.make("of", source, one) for one in columns]
    return found
