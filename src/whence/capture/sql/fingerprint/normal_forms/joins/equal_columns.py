"""Columns that conditions hold equal: which of them is read does not matter, if equal values of their type are one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whence.capture.sql.fingerprint.block import Block, OuterJoin, instances_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import has_one_spelling, type_of
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import STRICT, Formula, Formulas

DigestOf = Callable[[Formula], bytes]
"""What orders columns, whatever the numbers of their sources are."""


def read_one_of_equal(
    store: Formulas, block: Block, values: Sequence[Formula], digest_of: DigestOf
) -> tuple[Block, list[Formula]]:
    """The same rows and values, which read one column of those that are equal in every row."""
    chosen = dict(_chosen(block, digest_of))
    either = dict(_either(store, block, digest_of))
    if not chosen and not either:
        return block, list(values)

    def change(part: Formula) -> Formula:
        if part.op == "coalesce" and len(part.args) == 2:
            return either.get(part, part)
        return chosen.get(part, part)

    visit = change_everywhere(store, change)
    joins = [_visited(join, visit) for join in block.outer_joins]
    conditions = [one if _pair(one) is not None else visit(one) for one in block.conditions]
    return replace(block, outer_joins=joins, conditions=conditions), [visit(value) for value in values]


def with_outer_columns(store: Formulas, join: OuterJoin) -> list[Formula]:
    """The conditions of ON, which read an outer column in place of the one column of the right side that equals it.

    Those that read the right side alone are left, since they are a filter of it.
    """
    own = frozenset(join.right.instances())
    crossing = [] if join.kind == "full" else list(_crossing(join.on, own))
    columns = [right for _, right, _ in crossing]
    moved = {right: left for _, right, left in crossing if columns.count(right) == 1}
    if not moved:
        return join.on
    kept = frozenset(condition for condition, _, _ in crossing)
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    return [one if one in kept or instances_of(one) <= own else visit(one) for one in join.on]


def _crossing(on: Sequence[Formula], own: frozenset[Formula]) -> Iterator[tuple[Formula, Formula, Formula]]:
    """The equalities of a column of the right side and an outer one, with both."""
    for condition in on:
        pair = _pair(condition) if condition.op == "eq" else None
        for right, left in (pair, pair[::-1]) if pair is not None else ():
            if right.parts[0] in own and left.parts[0] not in own:
                yield condition, right, left


def _visited(join: OuterJoin, visit: Callable[[Formula], Formula]) -> OuterJoin:
    return join if join.kind == "full" else replace(join, on=[visit(one) for one in join.on])


def _chosen(block: Block, digest_of: DigestOf) -> Iterator[tuple[Formula, Formula]]:
    """Each column that another one stands for, and that one."""
    classes: list[set[Formula]] = []
    for condition in block.conditions:
        pair = _pair(condition)
        if pair is None or not all(one.args[0] in block.sources for one in pair):
            continue
        touched = [own for own in classes if not own.isdisjoint(pair)]
        classes = [own for own in classes if own not in touched] + [set(pair).union(*touched)]
    for own in classes:
        digests = {one: digest_of(one) for one in own}
        first = min(own, key=digests.__getitem__)
        if list(digests.values()).count(digests[first]) == 1:
            yield from ((one, first) for one in own if one is not first)


def _either(store: Formulas, block: Block, digest_of: DigestOf) -> Iterator[tuple[Formula, Formula]]:
    """`coalesce` of the two columns on which rows are joined that one side may lack."""
    for join in block.outer_joins:
        for pair in map(_sides, join.on) if join.kind == "full" else ():
            if pair is not None and _is_across(join, pair) and digest_of(pair[0]) != digest_of(pair[1]):
                first, second = sorted(pair, key=digest_of)
                yield store.make("coalesce", second, first), store.make("coalesce", first, second)


def _is_across(join: OuterJoin, pair: tuple[Formula, Formula]) -> bool:
    """Whether two values are one of each side of a join: two of one side differ where the other side is missing."""
    right = frozenset(join.right.instances())
    return [instances_of(one) <= right for one in pair].count(True) == 1


def _pair(condition: Formula) -> tuple[Formula, Formula] | None:
    """Two columns that are equal, of one type whose equal values do not differ."""
    pair = _sides(condition)
    return pair if pair is not None and all(one.op == "of" for one in pair) else None


def _sides(condition: Formula) -> tuple[Formula, Formula] | None:
    """Two equal values of one column each, which are NULL where it is, of one type whose equal values do not differ."""
    inside = formulas_of(condition)[0] if condition.op == "nullsafeeq" else condition
    parts = formulas_of(inside) if condition.op in ("eq", "nullsafeeq") else []
    if len(parts) != 2 or not all(map(_is_of_one_column, parts)):
        return None
    kinds = [type_of(one) for one in parts]
    is_one = kinds[0] == kinds[1] and kinds[0] != "decimal" and has_one_spelling(kinds[0], condition.store.dialect)
    return (parts[0], parts[1]) if is_one else None


def _is_of_one_column(value: Formula) -> bool:
    """Whether a value is a column, or one that is computed of it and NULL with it."""
    while value.op in STRICT and len(opened := [part for part in value.parts if part.is_open]) == 1:
        (value,) = opened
    return value.op == "of"
