"""What the right side of a LEFT JOIN looks for, and the left side has anyway.

`t LEFT JOIN (SELECT k, sum(x) FROM u WHERE k IN (SELECT k FROM t WHERE c) GROUP BY k) g ON g.k = t.k` behind `WHERE c`
finds the groups of all rows of u: a row of t that c leaves is a row that EXISTS looks for. The right side may be rows,
groups by what EXISTS looks for, or rows with window functions in partitions by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, normalize_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.joins.key_existence import finds_one_row, sought_rows
from whence.capture.sql.fingerprint.normal_forms.sources.existence import CloseBlock, has_rows, semi_joins
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import (
    common_partition,
    is_existence_by_keys,
)
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas


@dataclass(frozen=True, slots=True)
class _Side:
    """The right side of a join, opened. `columns`: what is read of it, first `keys`, which group it."""

    block: Block
    keys: list[Formula]
    columns: list[Formula]
    partition: frozenset[Formula] | None
    """By what a condition has to choose rows; None if it may choose any."""


def without_sought_rows(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with right sides of LEFT JOINs that do not look for rows of the left side."""
    rest = list(values)
    for place, join in enumerate(block.outer_joins):
        if join.kind != "left" or not join.right.is_plain or not _may_look_for_rows(join.right.sources[0]):
            continue
        try:
            found = _changed(store, block, rest, join, close)
        except ForeignSourceError:
            continue
        if found is None:
            continue
        after, moved = found
        visit = change_everywhere(store, lambda part, moved=moved: moved.get(part, part))  # type: ignore[misc]
        joins = [*block.outer_joins]
        joins[place] = OuterJoin("left", Block([after]), join.on)
        block = change_block(Block(block.sources, joins, block.conditions, block.is_used), visit)
        rest = [visit(value) for value in rest]
    return block, rest


def _may_look_for_rows(instance: Formula) -> bool:
    """Whether the rows have several sources or EXISTS, as far as one sees at once."""
    rows = rows_of(instance)
    if rows.is_open or rows.is_volatile:
        return False
    inside = formulas_of(rows)[0] if rows.op == "group" else rows
    if inside.op != "block":
        return False
    sources, conditions = formulas_of(inside)[:2]
    return len(sources.parts) > 1 or any(one.op in ("exists", "not") for one in conditions.parts)


def _changed(
    store: Formulas, block: Block, values: Sequence[Formula], join: OuterJoin, close: CloseBlock
) -> tuple[Formula, dict[Formula, Formula]] | None:
    """The right side without what it need not look for, and its columns. Raises ForeignSourceError."""
    (before,) = join.right.sources
    others = [part for one in block.outer_joins for part in one.formulas() if part is not before]
    read = columns_of(before, [*values, *block.conditions, *others, *map(rows_of, block.sources)])
    side = _opened(store, before, read) if read else None
    if side is None:
        return None
    side = _read_elsewhere(store, side)
    inner = semi_joins(store, side.block, [*side.keys, *side.columns], close)
    places = dict(zip(read, side.columns, strict=True))
    joined = _joined(store, before, places, join.on)
    known = [*block.conditions, *joined]
    own = frozenset(inner.sources)
    gone = [
        one
        for one in inner.conditions
        if (side.partition is None or is_existence_by_keys(one, side.partition, own))
        and _has_anyway(store, one, block.sources, known)
    ]
    if not gone:
        return None
    kept = [one for one in inner.conditions if one not in gone]
    rows, closed = close(store, Block(inner.sources, [], kept), [*side.keys, *side.columns])
    width = len(side.keys)
    if rows_of(before).op == "group":
        rows = store.make("group", rows, store.make("set", *closed[:width]))
    after = store.instance(rows)
    pushed = zip(read, closed[width:], strict=True)
    return after, {store.make("of", before, old): store.push(new, after, whole=True) for old, new in pushed}


def _opened(store: Formulas, before: Formula, read: Sequence[Formula]) -> _Side | None:
    """Raises ForeignSourceError."""
    rows = rows_of(before)
    if rows.op == "group":
        inside, *keys = formulas_of(rows)
        if not keys or keys[0].op != "set" or not keys[0].parts:
            return None
        inner = Reopened(store, inside)
        opened = [inner.open(one) for one in formulas_of(keys[0])]
        columns = [inner.open_total(one) if one.has_aggregate else inner.open(one) for one in read]
        return _Side(inner.block, opened, columns, frozenset(opened))
    inner = Reopened(store, rows)
    columns = [inner.open_window(one) for one in read]
    has_window = any(one.has_window for one in columns)
    return _Side(inner.block, [], columns, common_partition(columns) if has_window else None)


def _read_elsewhere(store: Formulas, side: _Side) -> _Side:
    """The side with the equal columns of other sources in place of columns of those that it only looks for."""
    for source in side.block.sources if len(side.block.sources) > 1 else ():
        equal = dict(pair for one in side.block.conditions for pair in _equal_columns(one, source))
        visit = change_everywhere(store, lambda part, equal=equal: equal.get(part, part))  # type: ignore[misc]
        keys, columns = [*map(visit, side.keys)], [*map(visit, side.columns)]
        if equal and not any(source in instances_of(one) for one in (*keys, *columns)):
            partition = frozenset(map(visit, side.partition)) if side.partition is not None else None
            side = _Side(side.block, keys, columns, partition)
    return side


def _equal_columns(condition: Formula, source: Formula) -> list[tuple[Formula, Formula]]:
    """A column of a source and that of another one which is the same value."""
    sides = formulas_of(condition) if condition.op == "eq" else []
    found = []
    for column, other in (sides, sides[::-1]) if len(sides) == len(("left", "right")) else ():
        kind, is_column = type_of(column), column.op == other.op == "of"
        is_apart = is_column and column.parts[0] is source and source not in instances_of(other)
        if is_apart and kind == type_of(other) and has_one_spelling(kind, source.store.dialect):
            found.append((column, other))
    return found


def _joined(store: Formulas, before: Formula, places: dict[Formula, Formula], on: Sequence[Formula]) -> list[Formula]:
    """What ON asks of the opened right side, as far as it asks it of single rows."""
    moved = {store.make("of", before, old): new for old, new in places.items()}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    return [one for one in map(visit, on) if not one.has_aggregate and not one.has_window]


def _has_anyway(store: Formulas, condition: Formula, sources: Sequence[Formula], known: Sequence[Formula]) -> bool:
    """Whether rows of these sources, for which the known conditions hold, are those that a condition looks for."""
    if condition.op == "exists":
        return not condition.is_volatile and has_rows(store, condition, sources, known)
    is_missing = condition.op == "not" and condition.parts[0].op == "exists" and not condition.is_volatile
    return is_missing and _lacks_row(store, condition.parts[0], sources, known)


def _lacks_row(store: Formulas, exists: Formula, sources: Sequence[Formula], known: Sequence[Formula]) -> bool:
    """Whether the one row that EXISTS may find is a row of these sources, for which a condition of it does not hold."""
    inner = sought_rows(store, exists)
    if inner is None or len(inner.sources) != 1:
        return False
    (only,) = inner.sources
    for source in sources:
        if rows_of(source) is not rows_of(only):
            continue
        mine = change_everywhere(store, lambda part, source=source: source if part is only else part)  # type: ignore[misc]
        shared = [one for one in inner.conditions if mine(one) in known]
        rest = [mine(one) for one in inner.conditions if one not in shared]
        is_same = finds_one_row(store, replace(inner, conditions=shared))
        if is_same and any(_is_rejected(store, one, known) for one in rest):
            return True
    return False


def _is_rejected(store: Formulas, condition: Formula, known: Sequence[Formula]) -> bool:
    rejected = negate(store, make_coalesce(store, [condition, store.make("boolean", "false")]))
    return all(any(_holds(other, one) for other in known) for one in normalize_filter(store, [rejected]))


def _holds(condition: Formula, wanted: Formula) -> bool:
    """Whether a condition is another one, or implies it or a part of it behind OR."""
    if wanted.op == "or" and any(_holds(condition, part) for part in formulas_of(wanted)):
        return True
    return condition is wanted or implies(condition, wanted)
