"""LATERAL queries as joins with all rows: those of rows, and others that find these by equality.

`FROM t, LATERAL (SELECT g, sum(x) FROM u WHERE u.k = t.k GROUP BY g)` gives for a row of t the groups of the rows of u
with its k. They are the groups by k and g whose k is that of the row. A query with LIMIT 1 gives the first row of
those with this k. A total gives a row even where there is none of u, so it is a LEFT JOIN with the totals of all k. The
two values are of one type, of which equal values are the same: texts that equal one number would be two groups. A
query of rows alone is joined on whatever it asks of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of
from whence.capture.sql.fingerprint.normal_forms.sources.existence import key_pair
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import EMPTY_TOTALS, with_zeros
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere, first_order, first_value
from whence.capture.sql.provenance.formulas import PUSHED_SIZE, Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]
Wrapped = Callable[[Formula, Sequence[Formula], Sequence[Formula]], tuple[Formula, list[Formula]]]
"""What becomes of complete rows, of the keys by which they are found, and of their columns."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that a LATERAL query finds, for all rows around it at once. `columns`: what readers read of them."""

    instance: Formula
    columns: dict[Formula, Formula]
    on: list[Formula]
    is_total: bool


def join_laterals(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with joins in place of LATERAL queries that find their rows by equality."""
    rest = list(values)
    for instance in [one for one in block.instances() if rows_of(one).is_open and not rows_of(one).is_volatile]:
        place = _place_of(block, instance)
        if place is None:
            continue
        try:
            found = _find(store, instance, _readers(block, rest, instance), close, is_missing=place >= 0)
        except ForeignSourceError:
            continue
        if found.is_total and not _is_always_joined(block, instance, found, place):
            continue
        visit = change_everywhere(store, lambda part, found=found: found.columns.get(part, part))  # type: ignore[misc]
        block, rest = change_block(_joined(block, instance, found, place), visit), [visit(value) for value in rest]
    return block, rest


def _place_of(block: Block, instance: Formula) -> int | None:
    """The LEFT JOIN whose right side a LATERAL query is; -1 if it is a source; None if it is neither."""
    if instance in block.sources:
        return -1
    for place, join in enumerate(block.outer_joins):
        if join.kind == "left" and join.right.is_plain and join.right.sources == [instance]:
            return place
    return None


def _is_always_joined(block: Block, instance: Formula, found: _Found, place: int) -> bool:
    """Whether a row of the other sources of a block has its total, whatever that is."""
    others = {one for one in block.instances() if one is not instance}
    outer = [one for condition in found.on for one in instances_of(condition) if one is not found.instance]
    return (
        bool(others.intersection(block.sources))
        and others.issuperset(outer)
        and not (place >= 0 and block.outer_joins[place].on)
    )


def _readers(block: Block, values: Sequence[Formula], instance: Formula) -> list[Formula]:
    joined = (part for join in block.outer_joins for part in join.formulas())
    return [*values, *block.conditions, *(one for one in (*block.sources, *joined) if one is not instance)]


def _joined(block: Block, instance: Formula, found: _Found, place: int) -> Block:
    """The block with the rows that were found. Its formulas still read the LATERAL query."""
    if place >= 0:
        join = OuterJoin("left", Block([found.instance]), [*block.outer_joins[place].on, *found.on])
        joins = [*block.outer_joins[:place], join, *block.outer_joins[place + 1 :]]
        return Block(block.sources, joins, block.conditions, block.is_used)
    if found.is_total:
        sources = [one for one in block.sources if one is not instance]
        own, joins = OuterJoin("left", Block([found.instance]), found.on), block.outer_joins
        is_read = any(instance in instances_of(part) for join in joins for part in join.formulas())
        return Block(sources, [own, *joins] if is_read else [*joins, own], block.conditions, block.is_used)
    sources = [found.instance if one is instance else one for one in block.sources]
    return Block(sources, block.outer_joins, [*block.conditions, *found.on], block.is_used)


def _find(
    store: Formulas, instance: Formula, readers: Sequence[Formula], close: CloseBlock, *, is_missing: bool
) -> _Found:
    """Raises ForeignSourceError if the rows depend on the other sources otherwise than by equality.

    `is_missing`: the rows are those of an outer join.
    """
    rows, columns = rows_of(instance), columns_of(instance, readers)
    if rows.op == "block":
        return _find_rows(store, instance, columns, close, is_missing=is_missing)
    inside, more, wrap = _shape(store, rows)
    is_total = rows.op == "group" and rows.args[1] == "all rows"
    inner = Reopened(store, inside)
    own = set(inner.block.sources)
    correlated = [one for one in inner.block.conditions if not instances_of(one) <= own]
    pairs = [key_pair(one, own) for one in correlated]
    if not pairs or not columns or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    is_single = rows.op == "limit" or is_total
    if not all(_are_of_one_type(*pair, is_single=is_single) for pair in pairs):
        raise ForeignSourceError
    wanted = [*(key for key, _ in pairs), *(inner.open(one) for one in more)]
    opened = [inner.open_total(one) if one.has_aggregate else inner.open(one) for one in columns]
    if any(not instances_of(one) <= own for one in (*wanted, *opened)):
        raise ForeignSourceError
    if is_total and not all(map(_is_known_without_rows, columns)):
        raise ForeignSourceError
    rest = [one for one in inner.block.conditions if one not in correlated]
    made, closed = close(store, Block(inner.block.sources, inner.block.outer_joins, rest), [*wanted, *opened])
    grouped, changed = wrap(made, closed[: len(wanted)], closed[len(wanted) :])
    after = store.instance(grouped)
    pushed = [store.push(one, after, is_missing and not is_total) for one in changed]
    if is_total:
        pushed = [with_zeros(store, one) for one in pushed]
    places = zip(pairs, closed, strict=False)
    return _Found(
        instance=after,
        columns={store.make("of", instance, old): new for old, new in zip(columns, pushed, strict=True)},
        on=[store.make("eq", store.push(place, after), outer) for (_, outer), place in places],
        is_total=is_total,
    )


def _find_rows(
    store: Formulas, instance: Formula, columns: Sequence[Formula], close: CloseBlock, *, is_missing: bool
) -> _Found:
    """Rows that are neither grouped nor limited. Raises ForeignSourceError."""
    inner = Reopened(store, rows_of(instance))
    own = frozenset(inner.block.sources)
    correlated = [one for one in inner.block.conditions if not instances_of(one) <= own]
    opened = [inner.open(one) for one in columns]
    if not correlated or not columns or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    if any(not instances_of(one) <= own or one.has_window for one in opened):
        raise ForeignSourceError
    crossing = list(dict.fromkeys(part for one in correlated for source in own for part in _columns(source, one)))
    rest = [one for one in inner.block.conditions if one not in correlated]
    made, closed = close(store, Block(inner.block.sources, inner.block.outer_joins, rest), [*crossing, *opened])
    after = store.instance(made)
    moved = {old: store.push(new, after) for old, new in zip(crossing, closed, strict=False)}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    pushed = [store.push(one, after, is_missing) for one in closed[len(crossing) :]]
    return _Found(
        instance=after,
        columns={store.make("of", instance, old): new for old, new in zip(columns, pushed, strict=True)},
        on=[*map(visit, correlated)],
        is_total=False,
    )


def _columns(source: Formula, condition: Formula) -> list[Formula]:
    """The columns of a source that a condition reads. Raises ForeignSourceError if it reads it otherwise."""
    if source not in instances_of(condition):
        return []
    found = [source.store.make("of", source, one) for one in columns_of(source, [condition])]
    if not found:
        raise ForeignSourceError
    return found


def _are_of_one_type(key: Formula, outer: Formula, *, is_single: bool) -> bool:
    """Whether both have one known type. `is_single`: one row is left of those with equal values, so these have to be
    the same.
    """
    kind = type_of(key)
    return kind == type_of(outer) != "" and (not is_single or has_one_spelling(kind, key.store.dialect))


def _is_known_without_rows(total: Formula) -> bool:
    """Whether a total of no rows is computed from NULL and 0 by operations outside of the query."""
    is_plain = not total.has_window and total.size <= PUSHED_SIZE
    return is_plain and {str(one.args[0]) for one in aggregates_of(total)} <= EMPTY_TOTALS


def _shape(store: Formulas, rows: Formula) -> tuple[Formula, list[Formula], Wrapped]:
    """The rows inside of a grouped, limited or plain query, what beside its columns it reads of them, and what it makes
    of them. Raises ForeignSourceError for another one.
    """
    match (rows.op, *rows.args):
        case ("group", Formula() as inside, Formula(op="set") as keys):
            return inside, formulas_of(keys), lambda made, wanted, found: (_group(store, made, wanted), [*found])
        case ("group", Formula() as inside, "all rows"):
            return inside, [], lambda made, wanted, found: (_group(store, made, wanted), [*found])
        case ("limit", Formula() as inside, Formula(op="list", args=(_, *_)) as order, Formula() as limit) if (
            limit is store.make("limit", "expression", store.make("number", "1"))
        ):
            return inside, formulas_of(order), _FirstRows(store, len(order.args)).of
    raise ForeignSourceError


def _group(store: Formulas, rows: Formula, keys: Sequence[Formula]) -> Formula:
    return store.make("group", rows, store.make("set", *keys))


@dataclass(frozen=True, slots=True)
class _FirstRows:
    """The first row for each key. `width`: how many of the wanted values are the order."""

    store: Formulas
    width: int

    def of(self, rows: Formula, wanted: Sequence[Formula], columns: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
        keys, order = wanted[: -self.width], first_order(self.store, wanted[: -self.width], wanted[-self.width :])
        return _group(self.store, rows, keys), [first_value(self.store, one, keys, order, rows=rows) for one in columns]
