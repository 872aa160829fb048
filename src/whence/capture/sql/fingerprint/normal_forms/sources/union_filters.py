"""Conditions on the rows of a UNION ALL as conditions of its branches.

A row of `A UNION ALL B` for which a condition is true is a row of A or of B for which it is true, as often as before.
So the filter may be written around the union or in each branch, where the columns that it reads have one type. A branch
for which it is never true is left out.
"""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import is_on_keys
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]
Branch = tuple[Formula, tuple[Formula, ...]]


def filter_branches(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with conditions on unions in their branches."""
    rest = list(values)
    for instance in list(block.sources):
        own = [one for one in block.conditions if _is_about(one, instance)]
        if own and rows_of(instance).op == "union_all" and not rows_of(instance).is_open:
            block, rest = _filter(store, block, rest, instance, own, close)
        elif own and _is_group_of_union(rows_of(instance)):
            block, rest = _filter_groups(store, block, rest, instance, own, close)
    return block, rest


def _is_group_of_union(rows: Formula) -> bool:
    is_group = rows.op == "group" and isinstance(rows.args[1], Formula) and rows.args[1].op == "set"
    return is_group and formulas_of(rows)[0].op == "union_all" and not (rows.is_open or rows.is_volatile)


def _filter_groups(
    store: Formulas, block: Block, values: list[Formula], instance: Formula, own: list[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """Conditions on the keys of groups of a union as conditions of its branches, whose rows are grouped then.

    Not below window functions: a filter that moves from before to behind them changes their values, and no row.
    """
    inside, keys = formulas_of(rows_of(instance))
    places = frozenset(store.push(key, instance) for key in keys.parts)
    moved = [one for one in own if is_on_keys(one, places, frozenset({instance}))]
    columns = columns_of(instance, [*values, *_readers(block, instance)])
    is_plain = all(map(_is_key_or_total, columns)) and not any(value.has_window for value in values)
    if not moved or not columns or not is_plain:
        return block, values
    union = Reopened(store, inside)
    (source,) = union.block.sources

    def opened(part: Formula) -> Formula:
        is_column = part.op == "of" and part.args[0] is instance
        return union.open(formulas_of(part)[1]) if is_column else part

    inner = Block([source], [], [change_everywhere(store, opened)(one) for one in moved])
    totals = (union.open_total(one) if one.has_aggregate else union.open(one) for one in columns)
    filtered, found = _filter(store, inner, [*map(union.open, keys.parts), *totals], source, inner.conditions, close)
    if filtered is inner:
        return block, values
    rows, closed = close(store, filtered, found)
    width = len(keys.parts)
    grouped = store.instance(store.make("group", rows, store.make("set", *closed[:width])))
    pairs = zip(columns, closed[width:], strict=True)
    changed = {store.make("of", instance, old): store.push(new, grouped) for old, new in pairs}
    visit = change_everywhere(store, lambda part: changed.get(part, part))
    sources = [grouped if one is instance else one for one in block.sources]
    rest = [one for one in block.conditions if one not in moved]
    made = change_block(Block(sources, block.outer_joins, rest, block.is_used), visit)
    return made, [visit(value) for value in values]


def _is_key_or_total(column: Formula) -> bool:
    """Whether a column of groups is an aggregate of their rows, or reads keys alone."""
    if column.op == "aggregate":
        return column.args[0] != "over" and not column.has_window
    return not (column.has_aggregate or column.has_window)


def _readers(block: Block, instance: Formula) -> list[Formula]:
    """All that reads columns of a source, but the values."""
    joins = (part for join in block.outer_joins for part in join.formulas())
    return [*block.conditions, *joins, *(one for one in block.sources if one is not instance)]


def _is_about(condition: Formula, instance: Formula) -> bool:
    """Whether a condition reads nothing but columns of one source."""
    is_plain = not (condition.is_volatile or condition.has_window or condition.has_aggregate)
    return is_plain and instances_of(condition) == {instance} and not _has_query(condition)


def _has_query(value: Formula) -> bool:
    if value.op in BINDERS and value.op != "of":
        return True
    return value.op != "of" and any(map(_has_query, formulas_of(value)))


def _filter(
    store: Formulas,
    block: Block,
    values: list[Formula],
    instance: Formula,
    own: list[Formula],
    close: CloseBlock,
) -> tuple[Block, list[Formula]]:
    rest = [one for one in block.conditions if one not in own]
    columns = columns_of(instance, [*values, *_readers(block, instance)])
    rows = formulas_of(formulas_of(rows_of(instance))[0])
    if not columns or any(one.op != "union_column" or len(one.args) != len(rows) for one in columns):
        return block, values
    if not all(_has_one_type(one, rows) for one in columns_of(instance, own)):
        return block, values
    if any(value.has_window for column in columns for value in formulas_of(column)):
        return block, values  # a window function of a branch sees the rows that the filter leaves out
    try:
        found = [
            _branch(store, one, [formulas_of(column)[place] for column in columns], columns, instance, own, close)
            for place, one in enumerate(rows)
        ]
    except ForeignSourceError:
        return block, values
    kept = sorted(
        (one for one in found if not _is_empty(one[0])),
        key=lambda branch: (branch[0].digest, [value.digest for value in branch[1]]),
    )
    if not kept:
        return block, values
    filtered, made = _union(store, kept)
    moved = {store.make("of", instance, old): store.push(new, filtered) for old, new in zip(columns, made, strict=True)}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    sources = [filtered if one is instance else one for one in block.sources]
    changed = change_block(Block(sources, block.outer_joins, rest, block.is_used), visit)
    return changed, [visit(value) for value in values]


def _has_one_type(column: Formula, rows: Sequence[Formula]) -> bool:
    """Whether a column has one type in all branches: a number that the union makes a text is compared otherwise."""
    pairs = zip(formulas_of(column), rows, strict=True)
    kinds = {type_of(value, one) for value, one in pairs if value.op != "null"}
    return "" not in kinds and (len(kinds) == 1 or all(map(is_exact_type, kinds)))


def _branch(
    store: Formulas,
    rows: Formula,
    values: Sequence[Formula],
    columns: Sequence[Formula],
    instance: Formula,
    conditions: Sequence[Formula],
    close: CloseBlock,
) -> Branch:
    """A filtered branch. Raises ForeignSourceError if it cannot be opened."""
    opened = Reopened(store, rows)
    found = [opened.open(one) for one in values]
    inside = {store.make("of", instance, column): value for column, value in zip(columns, found, strict=True)}

    def change(part: Formula) -> Formula:
        if part in inside:
            return inside[part]
        return rebuild(store, part, change) if part.is_open and part.op != "inst" else part

    block = Block(opened.block.sources, [], [*opened.block.conditions, *map(change, conditions)])
    closed, made = close(store, block, found)
    return closed, tuple(made)


def _is_empty(rows: Formula) -> bool:
    """Whether a condition of rows is never true."""
    conditions = formulas_of(rows)[1] if rows.op == "block" else None
    return conditions is not None and conditions.args == (rows.store.make("boolean", "false"),)


def _union(store: Formulas, branches: Sequence[Branch]) -> tuple[Formula, list[Formula]]:
    """A source of the rows of branches, and its columns."""
    if len(branches) == 1:
        return store.instance(branches[0][0]), list(branches[0][1])
    rows = store.make("union_all", store.make("bag", *(branch[0] for branch in branches)))
    width = len(branches[0][1])
    columns = [store.make("union_column", *(values[place] for _, values in branches)) for place in range(width)]
    return store.instance(rows), columns
