"""Subqueries that give one total: as an outer join of the totals of each key, or of the one total."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import BINDERS, PUSHED_SIZE, Formula, Formulas

_EMPTY_TOTALS = frozenset({"count", "sum", "avg", "min", "max", "logicalor", "logicaland"})
"""Aggregates of which it is known what they are without rows: 0 for `count`, NULL for the others."""


CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def join_scalars(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock, in_values: bool
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with total subqueries as outer joins. `in_values`: those in values too."""
    joins: list[OuterJoin] = []
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if not part.has_scalar:
            return part
        found = memo.get(part)
        if found is None:
            found = _join_scalar(store, part, joins, close) if part.op == "scalar" else store.rebuild(part, visit)
            memo[part] = found
        return found

    conditions = [visit(one) for one in block.conditions]
    rest = [visit(one) for one in values] if in_values else list(values)
    if joins:
        block = replace(block, outer_joins=[*block.outer_joins, *joins], conditions=conditions)
    return block, rest


def _join_scalar(store: Formulas, scalar: Formula, joins: list[OuterJoin], close: CloseBlock) -> Formula:
    """What a scalar subquery becomes: itself, if it is no total or depends on its row otherwise than by equality."""
    parts = [arg for arg in scalar.args if isinstance(arg, Formula)]
    has_total = len(parts) == 2 and parts[0].op == "group" and parts[0].args[1] == "all rows"
    if not has_total or not _is_plain_total(parts[1]) or scalar.is_volatile:
        return scalar
    rows, total = parts
    try:
        join, value = _totals(store, rows, total, close) if scalar.is_open else _total(store, rows, total)
    except ForeignSourceError:
        return scalar
    joins.append(join)
    return value


def _is_plain_total(value: Formula) -> bool:
    return value.has_aggregate and not value.has_window and value.size <= PUSHED_SIZE


def _total(store: Formulas, rows: Formula, value: Formula) -> tuple[OuterJoin, Formula]:
    instance = store.instance(rows)
    return OuterJoin("left", Block([instance]), []), store.push(value, instance)


def _totals(store: Formulas, rows: Formula, value: Formula, close: CloseBlock) -> tuple[OuterJoin, Formula]:
    """The totals of all keys that a correlated subquery may look for. Raises ForeignSourceError if it uses no keys."""
    (inside,) = (arg for arg in rows.args if isinstance(arg, Formula))
    reopened = Reopened(store, inside)
    own = set(reopened.block.sources)
    correlated = [one for one in reopened.block.conditions if not instances_of(one) <= own]
    pairs = [_key_pair(one, own) for one in correlated]
    opened, rest = reopened.open_total(value), [one for one in reopened.block.conditions if one not in correlated]
    if not {one.args[0] for one in aggregates_of(value)} <= _EMPTY_TOTALS:
        raise ForeignSourceError
    if not pairs or not instances_of(opened) <= own or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    keys = list(dict.fromkeys(key for key, _ in pairs))
    closed_rows, closed = close(store, Block([*reopened.block.sources], [], rest), [*keys, opened])
    grouped = store.instance(store.make("group", closed_rows, store.make("set", *closed[:-1])))
    places = dict(zip(keys, (store.push(key, grouped) for key in closed[:-1]), strict=True))
    on = [store.make("eq", places[key], outer) for key, outer in pairs]
    return OuterJoin("left", Block([grouped]), on), _with_zeros(store, store.push(closed[-1], grouped))


def _key_pair(condition: Formula, own: set[Formula]) -> tuple[Formula, Formula]:
    """The inner and the outer side of an equality. Raises ForeignSourceError for any other condition."""
    if condition.op == "eq":
        for key, outer in (condition.args, reversed(condition.args)):
            assert isinstance(key, Formula)
            assert isinstance(outer, Formula)
            if instances_of(key) and instances_of(key) <= own and own.isdisjoint(instances_of(outer)):
                return key, outer
    raise ForeignSourceError


def _with_zeros(store: Formulas, value: Formula) -> Formula:
    """A total of no rows is NULL, but a number of them is 0."""
    if value.op == "of":
        inside = value.args[1]
        is_count = isinstance(inside, Formula) and inside.op == "aggregate" and inside.args[0] == "count"
        return make_coalesce(store, [value, store.make("number", "0")]) if is_count else value
    if value.op in BINDERS or not value.is_open:
        return value
    return store.rebuild(value, lambda part: _with_zeros(store, part))


def join_totals(block: Block) -> Block:
    """The block with sources of exactly one row, a total, as outer joins that always find it."""
    totals = [one for one in block.sources if is_total(one)]
    others = [one for one in block.sources if one not in totals]
    if not totals or not others:
        return block
    joins = [OuterJoin("left", Block([one]), []) for one in totals]
    return replace(block, sources=others, outer_joins=[*block.outer_joins, *joins])


def is_total(instance: Formula) -> bool:
    """Whether a source has exactly one row."""
    rows = rows_of(instance)
    return rows.op == "group" and rows.args[1] == "all rows" and not rows.is_open
