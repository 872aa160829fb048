"""Rows with the greatest or the least value of their partition, as the first ones of an order by this value.

`o = max(o) OVER (PARTITION BY k)` is `rank() OVER (PARTITION BY k ORDER BY o DESC) = 1` of the rows whose o is not
NULL, and so is a join with the greatest o of each k. Where no two rows share k and o it is `row_number() = 1`. A row
for which NOT EXISTS finds none with a greater o has the greatest, if its k and its o are not NULL.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import partition_of, total_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import is_unique
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.sources.existence import key_pair
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.normal_forms.values.known import KnownValues
from whence.capture.sql.fingerprint.row_identity import Change, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def number_extremes(store: Formulas, block: Block) -> Block:
    """The block with ranks and row numbers for comparisons with the greatest or the least value of a partition."""
    found = [part for one in block.conditions for part in _numbered(store, block, one)]
    return block if found == block.conditions else replace(block, conditions=found)


def rank_extremes(store: Formulas, block: Block, values: Sequence[Formula]) -> list[Formula]:
    """The values with such ranks for comparisons of values that are never NULL. Of these, NULL is no rank."""
    known = KnownValues(store, block.conditions, block.sources)

    def change(part: Formula) -> Formula:
        found = _ranked(store, block, part) if part.op == "eq" else None
        return found[0] if found is not None and known.is_known(found[1]) else part

    return [*map(change_everywhere(store, change), values)]


def _numbered(store: Formulas, block: Block, condition: Formula) -> list[Formula]:
    found = _ranked(store, block, condition) if condition.op == "eq" else None
    return [condition] if found is None else [found[0], negate(store, is_null(found[1]))]


def _ranked(store: Formulas, block: Block, equality: Formula) -> tuple[Formula, Formula] | None:
    """The test for the first rank that an equality with the greatest or the least value of a partition is, and the
    value.
    """
    for total, value in (equality.parts, equality.parts[::-1]):
        source = total.parts[0] if total.op == "of" and total.parts[0] in block.sources else None
        window = total.parts[1] if source is not None else total
        extreme = total_of(window) if window.op == "window" else None
        if extreme is None or extreme.args[0] not in ("max", "min"):
            continue
        inside, keys = extreme.parts[0], partition_of(window) or ()
        read = [one if source is None else store.push(one, source) for one in (*keys, inside)]
        if value is not read[-1] and (source is None or value is not store.make("of", source, inside)):
            continue
        if not all(has_one_spelling(type_of(one), store.dialect) for one in (*read[:-1], value)):
            continue
        is_one = source is not None and is_unique(store, Block([source]), [*read[:-1], value])
        name = ("rownumber",) if is_one else ("rank", "aggregate")
        order = store.make("list", store.make("ordered", *(("desc",) if extreme.args[0] == "max" else ()), inside))
        number = store.make("window", *name, store.make("set", *keys), order, "OVER")
        first = number if source is None else store.make("of", source, number)
        return store.make("eq", first, store.make("number", "1")), value
    return None


def with_keys_of_extremes(store: Formulas, block: Block) -> Block:
    """The block with joins on the keys of groups, where it joins them by the greatest value of a key of their rows: the
    row with this value is in the group.
    """
    found = list(block.conditions)
    for condition in block.conditions:
        for total, value in (condition.parts, condition.parts[::-1]) if condition.op == "eq" else ():
            if total.op == value.op == "of" and total.parts[0] in block.sources and value.parts[0] in block.sources:
                found += _equal_keys(store, total, value)
    return block if found == block.conditions else replace(block, conditions=found)


def _equal_keys(store: Formulas, total: Formula, value: Formula) -> list[Formula]:
    """What holds of the keys of a group and of a row, whose declared key is the greatest or the least of the group."""
    (group, extreme), (source, column) = total.parts, value.parts
    parts = formulas_of(rows_of(group))
    is_extreme = extreme.op == "aggregate" and extreme.args[:2] in (("max", "this"), ("min", "this"))
    is_key = any(key.columns == (column,) for key in store.keys.get(rows_of(source), ()))
    if rows_of(group).op != "group" or parts[-1].op != "set" or len(parts) < 2 or not (is_extreme and is_key):
        return []
    try:
        inner = Reopened(store, parts[0])
        opened = inner.open(extreme.parts[0])
        keys = [(key, inner.open(key)) for key in formulas_of(parts[1])]
    except ForeignSourceError:
        return []
    (only, *others) = inner.block.sources
    if others or rows_of(only) is not rows_of(source) or opened is not store.make("of", only, column):
        return []
    mine = change_everywhere(store, lambda part: source if part is only else part)
    pairs = (store.make("bag", store.push(key, group), mine(inside)) for key, inside in keys)
    return [*map(mine, inner.block.conditions), *(store.make("nullsafeeq", pair) for pair in pairs)]


def join_extremes(store: Formulas, block: Block, close: CloseBlock) -> Block:
    """The block with a join with the greatest value of each key for NOT EXISTS of a row with a greater one."""
    for condition in list(block.conditions):
        joined = _joined_extreme(store, block, condition, close) if _is_missing(condition) else None
        if joined is not None:
            rest = [one for one in block.conditions if one is not condition]
            block = replace(block, sources=[*block.sources, joined[0]], conditions=[*rest, *joined[1]])
    return block


def _is_missing(condition: Formula) -> bool:
    is_not = condition.op == "not" and not condition.is_volatile
    return is_not and condition.parts[0].op == "exists" and condition.parts[0].is_open


def _joined_extreme(
    store: Formulas, block: Block, condition: Formula, close: CloseBlock
) -> tuple[Formula, list[Formula]] | None:
    try:
        inner = Reopened(store, formulas_of(condition.parts[0])[0]).block
    except ForeignSourceError:
        return None
    (only, *others), own = inner.sources, set(inner.sources)
    read = instances_of(condition)
    if others or len(read) != 1:
        return None
    (source,) = read
    if source not in block.sources or rows_of(source) is not rows_of(only) or rows_of(source).is_open:
        return None
    mine = change_everywhere(store, lambda part: source if part is only else part)
    filters = [one for one in inner.conditions if instances_of(one) == own]
    rest = [one for one in inner.conditions if one not in filters]
    compared = [one for one in rest if one.op == "lt" and _are_of_both(one, only, source, mine)]
    known = KnownValues(store, [one for one in block.conditions if one is not condition], block.sources)
    if len(compared) != 1 or not all(mine(one) in block.conditions for one in filters):
        return None
    try:
        pairs = [key_pair(one, own) for one in rest if one not in compared]
    except ForeignSourceError:
        return None
    (comparison,) = compared
    value = next(one for one in comparison.parts if instances_of(one) == own)
    keys = list(dict.fromkeys(key for key, _ in pairs))
    is_same = all(mine(key) is outer and instances_of(key) == own for key, outer in pairs)
    wanted = [*map(mine, keys), mine(value)]
    is_plain = all(known.is_known(one) and has_one_spelling(type_of(one), store.dialect) for one in wanted)
    if not keys or not is_same or not is_plain:
        return None
    name = "max" if comparison.parts[1] is value else "min"
    rows, closed = close(
        store, Block(inner.sources, [], filters), [*keys, store.make("aggregate", name, "this", value)]
    )
    grouped = store.instance(store.make("group", rows, store.make("set", *closed[:-1])))
    found = [store.make("eq", store.push(key, grouped), mine(own)) for key, own in zip(closed[:-1], keys, strict=True)]
    return grouped, [*found, store.make("eq", store.push(closed[-1], grouped), mine(value))]


def _are_of_both(comparison: Formula, only: Formula, source: Formula, mine: Change) -> bool:
    """Whether a comparison is one of the same value of two rows."""
    one, other = comparison.parts
    sides = [instances_of(one), instances_of(other)]
    return mine(one) is mine(other) and {only} in sides and {source} in sides
