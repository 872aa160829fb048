"""Rows that are joined with the totals of their own groups, as rows with window functions.

`FROM t JOIN (SELECT k, sum(x) AS y FROM t GROUP BY k) g ON g.k = t.k` gives each row of t whose k is not NULL the sum
over all rows with its k, as `sum(x) OVER (PARTITION BY k)` does. The groups are made of just these rows: of the same
sources behind the same conditions, except for those on k alone, which choose among groups. A LEFT JOIN is the same
where k is not NULL, and so is `IS NOT DISTINCT FROM` for any k. The k of the group is that of the row, if equal values
of its type are the same. The total of all rows, which a scalar subquery or a CROSS JOIN gives, is `sum(x) OVER ()`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import OF_ALL_ROWS
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known, normalize_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.sources.partition_filters import is_on_keys
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import is_total
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


@dataclass(frozen=True, slots=True)
class _Totals:
    """A joined source of groups. `pairs`: each key of it with what it is joined to, and the condition that says so."""

    instance: Formula
    pairs: tuple[tuple[Formula, Formula, Formula], ...]
    join: OuterJoin | None

    @property
    def conditions(self) -> list[Formula]:
        return [condition for _, _, condition in self.pairs]

    @property
    def keys(self) -> list[Formula]:
        return [key for key, _, _ in self.pairs]

    @property
    def joined_to(self) -> list[Formula]:
        return [value for _, value, _ in self.pairs]


def totals_as_windows(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock, *, may_open: bool = False
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with window functions in place of joined totals.

    `may_open`: the values may have window functions, so that these need not be columns of a subquery, behind whose
    windows the conditions on their partitions stand.
    """
    rest = list(values)
    for totals in (*_joined_totals(store, block), *_totals_of_all(block, values)):
        for own in _candidates(block, totals):
            changed = _without(store, block, rest, totals, own, close, may_open=may_open)
            if changed is not None:
                return totals_as_windows(store, *changed, close, may_open=may_open)
    return block, rest


def _joined_totals(store: Formulas, block: Block) -> Iterator[_Totals]:
    conditions = normalize_filter(store, block.conditions)
    for instance in block.sources:
        if len(block.sources) > 1 and (pairs := _pairs(store, instance, conditions)):
            yield _Totals(instance, pairs, None)
    for join in block.outer_joins:
        if join.kind != "left" or not join.right.is_plain:
            continue
        pairs = _pairs(store, join.right.sources[0], join.on)
        is_found = all(one.op == "nullsafeeq" or is_known(conditions, value) for _, value, one in pairs)
        if pairs and is_found and len(join.on) == len(pairs):
            yield _Totals(join.right.sources[0], pairs, join)


def _totals_of_all(block: Block, values: Sequence[Formula]) -> Iterator[_Totals]:
    """The sources of one row, the totals of all rows, where nothing is grouped after them."""
    if any(value.has_aggregate for value in values):
        return
    joins = {one.right.sources[0]: one for one in block.outer_joins if one.kind == "left" and one.right.is_plain}
    for one in (*(block.sources if len(block.sources) > 1 else ()), *joins):
        join = joins.get(one)
        if is_total(one) and not rows_of(one).is_volatile and not (join is not None and join.on):
            yield _Totals(one, (), join)


def _pairs(
    store: Formulas, instance: Formula, conditions: Sequence[Formula]
) -> tuple[tuple[Formula, Formula, Formula], ...]:
    """Each key of a grouped source with the value that a condition wants it to be; empty if one has none."""
    rows = rows_of(instance)
    keys = formulas_of(rows)[-1] if rows.op == "group" and not (rows.is_open or rows.is_volatile) else None
    found = []
    for key in formulas_of(keys) if keys is not None and keys.op == "set" else ():
        spellings = (store.make("of", instance, key), store.push(key, instance))
        pair = next(
            ((other, one) for one in conditions for side, other in _sides(one) if side in spellings), (None, None)
        )
        if pair[0] is None or pair[1] is None or instance in instances_of(pair[0]):
            return ()
        found.append((key, *pair))
    return tuple(found)


def _sides(condition: Formula) -> list[tuple[Formula, Formula]]:
    parts = formulas_of(condition) if condition.op == "eq" else []
    if condition.op == "nullsafeeq":
        parts = formulas_of(formulas_of(condition)[0])
    return [(parts[0], parts[1]), (parts[1], parts[0])] if len(parts) == 2 else []


def _candidates(block: Block, totals: _Totals) -> Iterator[list[Formula]]:
    """The sources whose rows the totals may be of: one of them, or all others."""
    read = {one for value in totals.joined_to for one in instances_of(value)}
    others = [one for one in block.sources if one is not totals.instance]
    yield from ([one] for one in others if read == {one} and not rows_of(one).is_open)
    if not totals.pairs:
        yield from ([one] for one in others if not rows_of(one).is_open)
    if (
        len(others) > 1
        and (read or not totals.pairs)
        and read <= {*others}
        and not any(rows_of(one).is_open for one in others)
    ):
        yield others


def _without(
    store: Formulas,
    block: Block,
    values: Sequence[Formula],
    totals: _Totals,
    own: Sequence[Formula],
    close: CloseBlock,
    *,
    may_open: bool,
) -> tuple[Block, list[Formula]] | None:
    """The block without joined totals; None if they are not those of the rows of these sources."""
    joins = [one for one in block.outer_joins if one is not totals.join]
    kept = [one for one in block.sources if one is not totals.instance]
    outside = [one for one in normalize_filter(store, block.conditions) if one not in totals.conditions]
    inside = [one for one in outside if _is_about(one, own) and not _is_on(one, totals, own)]
    outside = [one for one in outside if one not in inside]
    readers = [*values, *outside, *(part for join in joins for part in join.formulas()), *_rest(kept, own)]
    columns = {one: columns_of(one, [*readers, *totals.joined_to]) for one in own}
    totals_read = columns_of(totals.instance, readers)
    flat = [store.make("of", one, column) for one, several in columns.items() for column in several]
    rows, closed = close(store, Block([*own], [], inside), [*totals.joined_to, *flat])
    keys, closed_as = closed[: len(totals.pairs)], dict(zip(flat, closed[len(totals.pairs) :], strict=True))
    of_rows = _of_rows(totals, rows, keys, totals_read)
    if of_rows is None:
        of_rows = _of_groups(store, totals, own, inside, closed_as, close)
    is_read = _reads_columns_only({**columns, totals.instance: totals_read}, readers)
    if not is_read or of_rows is None or not of_rows.keys() >= {*totals_read}:
        return None
    about_keys = [*outside, *_known_keys(store, totals, [*inside, *outside])]
    is_open = may_open and not joins and kept == [*own] and all(_is_on(one, totals, own) for one in outside)
    found = _OpenRows(store, rows) if is_open else _ClosedRows(store, rows)
    moved = {one: found.column(column) for one, column in closed_as.items()}
    for column in totals_read:
        is_key = not (column.has_aggregate or column.has_window)
        if not (_has_one_spelling(store, totals) if is_key else _is_total(column)):
            return None
        value = found.column(of_rows[column]) if is_key else found.window(of_rows[column], keys)
        moved |= _moved(store.make("of", totals.instance, column), value)
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    changed = change_block(Block([one for one in kept if one not in own], joins, about_keys, block.is_used), visit)
    changed.sources = [*found.block.sources, *changed.sources]
    changed.conditions += found.block.conditions
    return changed, [visit(value) for value in values]


def _of_rows(
    totals: _Totals, rows: Formula, keys: Sequence[Formula], columns: Sequence[Formula]
) -> dict[Formula, Formula] | None:
    """What columns of the totals are over rows which these are of, or of whose groups; None if they are of others."""
    made_of = rows_of(totals.instance).args[0]
    if keys != totals.keys or rows is rows_of(totals.instance):
        return None
    if rows is made_of:
        return {one: one for one in columns}
    if rows.op == "group" and len(formulas_of(rows)) > 1 and formulas_of(rows)[0] is made_of:
        return {one: _total_of_groups(one, one) for one in columns if _is_of_rows(one)}
    return None


def _of_groups(
    store: Formulas,
    totals: _Totals,
    own: Sequence[Formula],
    inside: Sequence[Formula],
    closed_as: Mapping[Formula, Formula],
    close: CloseBlock,
) -> dict[Formula, Formula] | None:
    """What the totals are over rows that are groups themselves; None if they are not of the rows in these.

    `closed_as`: the columns of the groups, and what they are of the complete ones. See `nested_groups`.
    """
    (only, *others), rows = own, formulas_of(rows_of(own[0]))
    if (
        others
        or rows_of(only) is rows_of(totals.instance)
        or rows_of(only).op != "group"
        or len(rows) < 2
        or rows[-1].op != "set"
    ):
        return None
    try:
        opened = Reopened(store, rows[0])
        change = change_everywhere(store, lambda part: _opened(opened, only, part))
        block = Block(opened.block.sources, [], [*opened.block.conditions, *map(change, inside)])
        made, closed = close(store, block, [*map(change, (*totals.joined_to, *closed_as))])
    except ForeignSourceError:
        return None
    if made is not rows_of(totals.instance).args[0] or closed[: len(totals.pairs)] != totals.keys:
        return None
    columns = zip(closed[len(totals.pairs) :], closed_as.values(), strict=True)
    return {column: _total_of_groups(column, value) for column, value in columns if _is_of_rows(column)}


def _opened(rows: Reopened, instance: Formula, part: Formula) -> Formula:
    """A column of a group over its rows."""
    if part.op != "of" or part.args[0] is not instance:
        return part
    column = formulas_of(part)[1]
    return rows.open_total(column) if column.op == "aggregate" else rows.open(column)


def _total_of_groups(column: Formula, value: Formula) -> Formula:
    """A total as one of groups, of which each has a value for it. Keys are what they are."""
    if column.op != "aggregate":
        return value
    return column.store.make("aggregate", "sum" if column.args[0] == "count" else column.args[0], "this", value)


def _is_of_rows(column: Formula) -> bool:
    """Whether a total of totals is one of rows, or the column a key."""
    is_distinct = any(part.op == "distinct" for part in formulas_of(column))
    return not column.has_aggregate or (column.args[0] in OF_ALL_ROWS - {"avg"} and not is_distinct)


def _moved(column: Formula, value: Formula) -> dict[Formula, Formula]:
    """What becomes of a total. A number of rows that is a sum of numbers of them has the type of a sum."""
    store = column.store
    is_sum = type_of(value) == "hugeint" and type_of(column) == "bigint"
    if not is_sum:
        return {column: value}
    wide, narrow = (store.make("type", name) for name in ("int128", "bigint"))
    return {store.make("cast", column, wide): value, column: store.make("cast", value, narrow)}


class _ClosedRows:
    """Complete rows with window functions, as one source."""

    def __init__(self, store: Formulas, rows: Formula) -> None:
        self.store = store
        self.block = Block([store.instance(rows)])

    def column(self, column: Formula) -> Formula:
        return self.store.push(column, self.block.sources[0])

    def window(self, total: Formula, keys: Sequence[Formula]) -> Formula:
        return self.column(_window(self.store, total, keys))


class _OpenRows:
    """Rows as a part of the query around them, whose conditions stand before its window functions."""

    def __init__(self, store: Formulas, rows: Formula) -> None:
        self.store = store
        self.rows = Reopened(store, rows)
        self.block = self.rows.block
        self.column = self.rows.open

    def window(self, total: Formula, keys: Sequence[Formula]) -> Formula:
        return _window(self.store, self.rows.open_total(total), [*map(self.column, keys)])


def _is_about(condition: Formula, own: Sequence[Formula]) -> bool:
    found = instances_of(condition)
    return bool(found) and found <= {*own} and not (condition.has_window or condition.is_volatile)


def _is_on(condition: Formula, totals: _Totals, own: Sequence[Formula]) -> bool:
    return is_on_keys(condition, frozenset(totals.joined_to), frozenset(own))


def _rest(kept: Sequence[Formula], own: Sequence[Formula]) -> list[Formula]:
    """The other sources, which may read these."""
    return [one for one in kept if one not in own]


def _reads_columns_only(columns: dict[Formula, list[Formula]], readers: Sequence[Formula]) -> bool:
    """Whether formulas read sources by columns, and no source otherwise."""
    read = {one for reader in readers for one in instances_of(reader)}
    return all(found or one not in read for one, found in columns.items())


def _is_total(column: Formula) -> bool:
    return column.op == "aggregate" and column.args[0] in OF_ALL_ROWS


def _window(store: Formulas, total: Formula, keys: Sequence[Formula]) -> Formula:
    """What a total of a group is for each of its rows."""
    return store.make("window", *total.args, "aggregate", store.make("set", *keys), store.make("list"), "OVER")


def _has_one_spelling(store: Formulas, totals: _Totals) -> bool:
    """Whether the keys of a group are those of each of its rows: not so for floating-point zeros."""
    kinds = (type_of(store.push(key, totals.instance)) for key, _, _ in totals.pairs)
    return all(has_one_spelling(kind, store.dialect) for kind in kinds)


def _known_keys(store: Formulas, totals: _Totals, conditions: Sequence[Formula]) -> list[Formula]:
    """The conditions that keys are not NULL, which an equality wants of rows that have no such condition."""
    wanted = [value for _, value, one in totals.pairs if one.op == "eq" and totals.join is None]
    return [negate(store, is_null(value)) for value in wanted if not is_known(conditions, value)]
