"""Grouping of a join as a join with groups: `GROUP BY` over rows of which each has a group of its own.

`SELECT a.k, sum(b.x) FROM a LEFT JOIN b ON b.k = a.k GROUP BY a.k` sums the rows of b for each row of a, if no two rows
of a share k. So it is `a LEFT JOIN (SELECT k, sum(x) FROM b GROUP BY k)`. A row of a without one of b has NULL, a
number of values is 0 there, and the number of rows is 1. The two k are of one type, of which equal values are the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of, rows_of
from whence.capture.sql.fingerprint.blocks import close_block
from whence.capture.sql.fingerprint.normal_forms.aggregates.aggregate_filters import shared_filter
from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import distinct_value
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import is_unique
from whence.capture.sql.fingerprint.normal_forms.aggregates.parts import aggregates_of, change_aggregates
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import is_missing, rejects_missing
from whence.capture.sql.fingerprint.normal_forms.sources.existence import key_pair
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError
from whence.capture.sql.fingerprint.normal_forms.sources.scalars import EMPTY_TOTALS
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.stages import Rows
from whence.capture.sql.provenance.formulas import Formula, Formulas


@dataclass(frozen=True, slots=True)
class _Counted:
    """A source that aggregates read alone. `rest`: the other rows. `on`: what joins it. `join`: None if it is inner."""

    instance: Formula
    rest: Block
    on: list[Formula]
    join: OuterJoin | None


def group_before_join(store: Formulas, rows: Rows) -> bool:
    """Complete grouped rows as ungrouped ones that are joined with groups. Returns whether they are such rows."""
    keys = rows.lists.get("keys", [])
    if keys:
        rows.simplify_aggregates(keys)
    flat = [value for values in rows.lists.values() for value in values]
    aggregates = list(dict.fromkeys(part for value in flat for part in aggregates_of(value)))
    block = replace(rows.block, conditions=normalize_filter(store, rows.block.conditions))
    is_plain = all(one.args[0] in EMPTY_TOTALS for one in aggregates) and not rows.lists["inherited"]
    if not keys or not aggregates or not is_plain:
        return False
    for counted in _candidates(block):
        if not _reads_in_aggregates_only(store, counted, flat) or not is_unique(store, counted.rest, keys):
            continue
        try:
            made, totals = _grouped(store, counted, aggregates)
        except ForeignSourceError:
            continue
        change = change_aggregates(store, lambda part, totals=totals: totals[part])  # type: ignore[misc]
        rows.block = made
        rows.lists = {name: [*map(change, values)] for name, values in rows.lists.items() if name != "keys"}
        return True
    return False


def _candidates(block: Block) -> Iterator[_Counted]:
    for join in block.outer_joins:
        if join.kind == "left" and join.right.is_plain:
            rest = replace(block, outer_joins=[one for one in block.outer_joins if one is not join])
            yield _Counted(join.right.sources[0], rest, join.on, join)
    for one in block.sources if len(block.sources) > 1 else ():
        on = [condition for condition in block.conditions if one in instances_of(condition)]
        kept = [condition for condition in block.conditions if condition not in on]
        others = [source for source in block.sources if source is not one]
        yield _Counted(one, Block(others, block.outer_joins, kept, block.is_used), on, None)


def _reads_in_aggregates_only(store: Formulas, counted: _Counted, values: Sequence[Formula]) -> bool:
    """Whether a source is read by what joins it and by aggregates, and these read nothing else."""
    own, null = {counted.instance}, store.make("null")
    outside = change_aggregates(store, lambda _: null)
    aggregates = [part for value in values for part in aggregates_of(value)]
    joins = [part for join in counted.rest.outer_joins for part in join.formulas()]
    readers = [*map(outside, values), *counted.rest.sources, *counted.rest.conditions, *joins]
    is_closed = not (rows_of(counted.instance).is_open or rows_of(counted.instance).is_volatile)
    is_alone = all(instances_of(one) <= own and not one.is_volatile for one in aggregates)
    return is_closed and is_alone and not any(counted.instance in instances_of(one) for one in readers)


def _grouped(store: Formulas, counted: _Counted, aggregates: Sequence[Formula]) -> tuple[Block, dict[Formula, Formula]]:
    """The rows that are joined with groups, and what becomes of aggregates. Raises ForeignSourceError."""
    before = aggregates
    own = [one for one in counted.on if instances_of(one) == {counted.instance}]
    pairs = [key_pair(one, {counted.instance}) for one in counted.on if one not in own]
    if not pairs or not all(_are_of_one_type(*pair) for pair in pairs):
        raise ForeignSourceError
    if counted.join is not None and not all(_is_known_without_rows(one, counted.instance) for one in aggregates):
        raise ForeignSourceError
    keys = list(dict.fromkeys(key for key, _ in pairs))
    if counted.join is not None:
        shared, change = shared_filter(store, aggregates)
        own = [*own, *shared]
        aggregates = [change(one) for one in aggregates]
    inner = Rows(store, Block([counted.instance], [], own), {"keys": keys, "values": [*keys, *aggregates]})
    inner.group(lambda inside, lists: store.make("group", inside, store.make("set", *lists["keys"])), keys)
    made, closed = close_block(store, inner.block, inner.lists["values"])
    instance = store.instance(made)
    found = [store.push(one, instance, counted.join is not None) for one in closed]
    places = dict(zip(keys, found, strict=False))
    on = [store.make("eq", places[key], outer) for key, outer in pairs]
    totals = dict(zip(before, found[len(keys) :], strict=True))
    rest = counted.rest
    if counted.join is None:
        return Block([*rest.sources, instance], rest.outer_joins, [*rest.conditions, *on]), totals
    joins = [*rest.outer_joins, OuterJoin("left", Block([instance]), on)]
    return Block(rest.sources, joins, rest.conditions), {one: _default(store, one, totals[one]) for one in before}


def _are_of_one_type(key: Formula, outer: Formula) -> bool:
    kind = type_of(key)
    return kind == type_of(outer) and has_one_spelling(kind, key.store.dialect)


def _is_known_without_rows(aggregate: Formula, instance: Formula) -> bool:
    """Whether an aggregate over one row whose columns are all NULL is what it is over no rows, or counts the row."""
    own, parts = frozenset({instance}), formulas_of(aggregate)
    if len(parts) != 1:
        return False
    value = distinct_value(parts[0]) or parts[0]
    inside = formulas_of(value)
    if value.op == "case" and len(inside) == len(("condition", "value", "else")) and inside[2].op == "null":
        return rejects_missing(inside[0], own) or is_missing(inside[1], own)
    return value.op == "star" or is_missing(value, own)


def _default(store: Formulas, aggregate: Formula, value: Formula) -> Formula:
    """A number of values or rows where there is no group: no value, and the row that LEFT JOIN keeps."""
    if aggregate.args[0] != "count":
        return value
    number = "1" if aggregate.args[1] is store.make("star") else "0"
    return make_coalesce(store, [value, store.make("number", number)])
