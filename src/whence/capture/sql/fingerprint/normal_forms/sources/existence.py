"""EXISTS, and joins that only ask whether a row is there.

`SELECT DISTINCT g.id FROM g JOIN p ON p.id = g.id` gives each row of g for which a row of p is there, if no two rows of
g share an id. So it is g with EXISTS, without DISTINCT.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.aggregates.demanded_filters import filter_demanded_groups
from whence.capture.sql.fingerprint.normal_forms.aggregates.fixed import FixedValues
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, normalize_filter
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import (
    ForeignSourceError,
    Reopened,
    columns_of,
    open_sources,
    without_groups,
)
from whence.capture.sql.fingerprint.normal_forms.sources.value_lists import listed
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, not_null, null_tested
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.known import KnownValues
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

_MOST_REPEATED: Final = 3
"""Of more sources it is not asked whether EXISTS looks for their rows."""
MOST_SOURCES: Final = 40
"""Subqueries become part of the query around them up to this many sources, so that nothing grows exponentially."""
CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def exists_in(store: Formulas, block: Block, close: CloseBlock) -> Formula:
    """Whether a block has a row: neither its values nor DISTINCT, GROUP BY and LIMIT decide on that."""
    block = _with_keys(store, _without_limits(store, block), close)
    block, _ = filter_demanded_groups(store, block, [], close)
    block, _ = without_groups(store, block, [])
    block, _ = open_sources(store, without_semi_joins(store, block), [], MOST_SOURCES)
    block = _without_own_rows(store, block)
    if not block.sources and block.conditions:
        return store.connect("and", block.conditions)
    return listed(store, block) or store.make("exists", close(store, block, [])[0])


def _without_own_rows(store: Formulas, block: Block) -> Block:
    """EXISTS without the row that it is asked of, which it finds by its whole key."""
    for source in block.sources:
        rows = rows_of(source)
        keys = () if rows.is_open or rows.is_volatile else unique_keys(rows)
        outer = {one for on in block.conditions for one in instances_of(on)}.difference(block.instances())
        for key, own in product(keys, outer):
            equal = [store.make("eq", *(store.push(column, one) for one in (source, own))) for column in key.columns]
            if rows_of(own) is rows and equal and {*equal} <= {*block.conditions}:
                found = _replaced(store, block, source, own)
                return _without_own_rows(store, found) if _is_decided(found) else block
    return block


def _replaced(store: Formulas, block: Block, source: Formula, own: Formula) -> Block:
    """The block with another row in the place of one of its sources."""
    rest = replace(block, sources=[one for one in block.sources if one is not source])
    found = change_block(rest, change_everywhere(store, lambda part: own if part is source else part))
    return replace(found, conditions=normalize_filter(store, [*map(_with_itself, found.conditions)]))


def _with_itself(condition: Formula) -> Formula:
    """A comparison of a value with itself is true unless the value is NULL."""
    sides = formulas_of(condition) if condition.op == "eq" else []
    return condition.store.make("not", is_null(sides[0])) if len(sides) == 2 and sides[0] is sides[1] else condition


def _is_decided(block: Block) -> bool:
    """Whether the block has sources, or all that its conditions say is true or false, as EXISTS is."""
    return bool(block.sources) or all(one.op == "exists" or not_null(one) is not None for one in block.conditions)


def _with_keys(store: Formulas, block: Block, close: CloseBlock) -> Block:
    """`EXISTS (SELECT … WHERE k = outer HAVING count(*) >= 2)` as one over the groups by k.

    The group of all rows for one k is the group of that k, if it has a row, which a number of rows demands.
    """
    if not block.is_plain and len(block.sources) == 1 and not block.outer_joins:
        (total,) = block.sources
        rows = rows_of(total)
        is_total = rows.op == "group" and rows.args[1] == "all rows" and rows.is_open and not rows.is_volatile
        if is_total and any(_demands_row(one, total) for one in block.conditions):
            try:
                return _groups_of_keys(store, block, close)
            except ForeignSourceError:
                return block
    return block


def _demands_row(condition: Formula, total: Formula) -> bool:
    low, *rest = formulas_of(condition) if condition.op == "lte" else [condition]
    count = total.store.make("aggregate", "count", total.store.make("star"))
    return bool(rest) and (integer_of(low) or 0) >= 1 and rest[0] is total.store.make("of", total, count)


def _groups_of_keys(store: Formulas, block: Block, close: CloseBlock) -> Block:
    """Raises ForeignSourceError if the rows of the total depend on the outer query otherwise than by equality.

    Of values of one type: two texts that equal one number would be two groups.
    """
    (total,) = block.sources
    inner = Reopened(store, formulas_of(rows_of(total))[0])
    own = set(inner.block.sources)
    correlated = [one for one in inner.block.conditions if not instances_of(one) <= own]
    pairs = [key_pair(one, own) for one in correlated]
    is_one_type = all(type_of(key) == type_of(outer) != "" for key, outer in pairs)
    if not pairs or not is_one_type or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    used = columns_of(total, block.conditions)
    keys = list(dict.fromkeys(key for key, _ in pairs))
    rest = [one for one in inner.block.conditions if one not in correlated]
    opened = [inner.open_total(one) for one in used]
    if not used or any(not instances_of(one) <= own for one in opened):
        raise ForeignSourceError
    rows, closed = close(store, Block(inner.block.sources, [], rest), [*keys, *opened])
    grouped = store.instance(store.make("group", rows, store.make("set", *closed[: len(keys)])))
    columns = (store.push(one, grouped) for one in closed[len(keys) :])
    moved = {store.make("of", total, old): new for old, new in zip(used, columns, strict=True)}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    places = dict(zip(keys, (store.push(key, grouped) for key in closed[: len(keys)]), strict=True))
    equal = [store.make("eq", places[key], outer) for key, outer in pairs]
    return Block([grouped], [], [*map(visit, block.conditions), *equal])


def key_pair(condition: Formula, own: set[Formula]) -> tuple[Formula, Formula]:
    """The inner and the outer side of an equality. Raises ForeignSourceError for any other condition."""
    for key, outer in (formulas_of(condition), reversed(formulas_of(condition))) if condition.op == "eq" else ():
        if instances_of(key) and instances_of(key) <= own and own.isdisjoint(instances_of(outer)):
            return key, outer
    raise ForeignSourceError


def without_semi_joins(store: Formulas, block: Block) -> Block:
    """The block with joins in place of EXISTS, for a reader who counts no repetition."""
    for condition in list(block.conditions):
        if condition.op != "exists" or condition.is_volatile:
            continue
        try:
            inner = Reopened(store, formulas_of(condition)[0]).block
        except ForeignSourceError:
            continue
        if len(block.sources) + len(inner.sources) <= MOST_SOURCES:
            rest = [one for one in block.conditions if one is not condition]
            block = Block([*block.sources, *inner.sources], block.outer_joins, [*rest, *inner.conditions])
    return block


def anti_joins(store: Formulas, block: Block, close: CloseBlock) -> Block:
    """NOT IN as NOT EXISTS, if none of the rows is NULL, and the value is not or may be."""
    conditions = [_anti_join(store, one, block, close) for one in block.conditions]
    return block if conditions == block.conditions else replace(block, conditions=conditions)


def _anti_join(store: Formulas, condition: Formula, block: Block, close: CloseBlock) -> Formula:
    match condition:
        case Formula(op="or", args=(Formula() as one, Formula() as other)):
            for test, rest in ((one, other), (other, one)):
                tested = null_tested(test)
                if tested is not None and rest.op == "not":
                    found = _anti_join(store, rest, replace(block, conditions=[store.make("not", test)]), close)
                    if found is not rest and formulas_of(formulas_of(rest)[0])[0] is tested:
                        return found
        case Formula(op="not", args=(Formula(op="in") as member,)):
            others = [one for one in block.conditions if one is not condition]
            exists = _exists_member(store, member, KnownValues(store, others, block.sources), close)
            return condition if exists is None else store.make("not", exists)
    return condition


def equal_values(
    store: Formulas, left: tuple[Block, Sequence[Formula]], right: tuple[Block, Sequence[Formula]]
) -> list[Formula]:
    """The conditions that two rows have the same values: NULLs are the same, where both sides may have one."""
    known = [KnownValues(store, normalize_filter(store, block.conditions), block.sources) for block, _ in (left, right)]
    return [
        store.make("eq", *pair)
        if any(side.is_known(value) for side, value in zip(known, pair, strict=True))
        else store.make("nullsafeeq", store.make("bag", *pair))
        for pair in zip(left[1], right[1], strict=True)
    ]


def members_as_existence(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> list[Formula]:
    """IN of a query as EXISTS in values, where it is never NULL."""
    known = KnownValues(store, block.conditions, block.sources)

    def change(part: Formula) -> Formula:
        found = _exists_member(store, part, known, close) if part.op == "in" else None
        return part if found is None else found

    return [*map(change_everywhere(store, change), values)]


def _exists_member(store: Formulas, member: Formula, known: KnownValues, close: CloseBlock) -> Formula | None:
    """EXISTS for IN of a query, if neither the value nor a row of the query is NULL."""
    match member.args:
        case (
            Formula() as value,
            Formula(op="in_query", args=(Formula() as rows, Formula() as column)),
        ) if not _reads_enclosing(value):
            try:
                inner = Reopened(store, rows)
                wanted = inner.open(column)
            except ForeignSourceError:
                return None
            is_computed = any(one.has_window or one.has_aggregate for one in (value, wanted))
            inside = KnownValues(store, inner.block.conditions, inner.block.sources)
            if is_computed or member.is_volatile or not known.is_known(value) or not inside.is_known(wanted):
                return None
            equal = store.make("eq", value, wanted)
            return exists_in(store, Block(inner.block.sources, [], [*inner.block.conditions, equal]), close)
    return None


def _reads_enclosing(value: Formula) -> bool:
    """Whether a value reads the rows of a complete query that it is inside of."""
    return value.op == "src" or any(map(_reads_enclosing, value.parts[:1] if value.op == "of" else value.parts))


def without_repeated_existence(store: Formulas, block: Block) -> Block:
    """The block without EXISTS of rows that it joins anyway: of its own sources behind its own conditions."""
    for condition in list(block.conditions):
        rest = [one for one in block.conditions if one is not condition]
        if condition.op == "exists" and not condition.is_volatile and has_rows(store, condition, block.sources, rest):
            block = replace(block, conditions=rest)
    return block


def has_rows(store: Formulas, condition: Formula, sources: Sequence[Formula], conditions: Sequence[Formula]) -> bool:
    """Whether each row of joined sources has the rows that EXISTS looks for."""
    try:
        inner = Reopened(store, formulas_of(condition)[0]).block
    except ForeignSourceError:
        return False
    places = [[one for one in sources if rows_of(one) is rows_of(source)] for source in inner.sources]
    if len(inner.sources) > _MOST_REPEATED or any(len(one) > _MOST_REPEATED for one in places):
        return False
    known = frozenset(conditions)
    for found in product(*places):
        moved = dict(zip(inner.sources, found, strict=True))
        visit = change_everywhere(store, lambda part, moved=moved: moved.get(part, part))  # type: ignore[misc]
        if all(_holds(visit(one), known) for one in inner.conditions):
            return True
    return False


def _holds(condition: Formula, known: frozenset[Formula]) -> bool:
    return condition in known or any(implies(one, condition) for one in known)


def _without_limits(store: Formulas, block: Block) -> Block:
    """The block, if it is one limited source, without the limit of at least one row."""
    if not block.is_plain:
        return block
    rows = rows_of(block.sources[0])
    match (rows.op, *rows.args):
        case ("limit", Formula() as inside, Formula(), Formula(op="limit", args=(*_, Formula(op="number") as number))):
            if str(number.args[0]).isdigit() and int(str(number.args[0])) > 0:
                return Block([store.instance(inside)])
    return block


def semi_joins(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> Block:
    """A join on the whole key of a source as EXISTS, if nothing but conditions reads that source."""
    for instance in list(block.sources):
        own = [one for one in block.conditions if instance in instances_of(one)]
        others = [one for one in block.sources if one is not instance]
        joined = (on for join in block.outer_joins for on in (*join.on, *join.right.sources, *join.right.conditions))
        readers = (*values, *others, *joined)
        if (
            not others
            or not _is_joined_on_key(store, instance, own)
            or any(instance in instances_of(one) for one in readers)
        ):
            continue
        rest = [one for one in block.conditions if one not in own]
        block = Block(others, block.outer_joins, [*rest, exists_in(store, Block([instance], [], own), close)])
    return block


def _is_joined_on_key(store: Formulas, instance: Formula, conditions: Sequence[Formula]) -> bool:
    rows = rows_of(instance)
    if rows.is_open or rows.is_volatile:
        return False
    equal = [one for one in conditions if one.op == "eq"]
    return any(
        key.columns
        and all(any(_equates(one, store.push(column, instance), instance) for one in equal) for column in key.columns)
        for key in unique_keys(rows)
    )


def _equates(condition: Formula, column: Formula, instance: Formula) -> bool:
    rest = [arg for arg in condition.args if isinstance(arg, Formula) and arg is not column]
    return len(rest) == 1 and instance not in instances_of(rest[0])


def without_repetitions(
    store: Formulas, block: Block, keys: Sequence[Formula], values: Sequence[Formula], close: CloseBlock
) -> Block | None:
    """The groups of a block by its keys as rows of the sources of which the keys fix one row, for which rows of all
    other sources exist. `values`: what is read of the groups; None if that is more than these sources.
    """
    fixed = FixedValues(store, block, keys).sources
    kept = {*block.sources} & fixed
    others = [one for one in block.sources if one not in fixed]
    joined = {one for join in block.outer_joins for one in join.right.instances()}
    if not kept or not joined <= fixed or any(join.kind != "left" for join in block.outer_joins):
        return None
    readers = [*keys, *values, *(part for join in block.outer_joins for part in join.formulas())]
    is_plain = not any(rows_of(one).is_open or rows_of(one).is_volatile for one in block.instances())
    if not is_plain or any(one.is_volatile for one in block.conditions):
        return None
    if not all(instances_of(one) <= kept | joined for one in readers):
        return None
    joining = [one for one in block.conditions if not instances_of(one).isdisjoint(others)]
    if any(not joined.isdisjoint(instances_of(one)) for one in joining):
        return None
    rest = [one for one in block.conditions if one not in joining]
    found = [exists_in(store, Block(sources, [], own), close) for sources, own in _connected(others, joining)]
    return replace(block, sources=[one for one in block.sources if one in kept], conditions=[*rest, *found])


def _connected(
    sources: Sequence[Formula], conditions: Sequence[Formula]
) -> Iterator[tuple[list[Formula], list[Formula]]]:
    """The sources that conditions connect, with these conditions."""
    remaining = list(sources)
    while remaining:
        found, own = {remaining[0]}, []
        while new := [one for one in conditions if one not in own and not found.isdisjoint(instances_of(one))]:
            own += new
            found |= {source for one in new for source in instances_of(one) if source in remaining}
        yield [one for one in remaining if one in found], own
        remaining = [one for one in remaining if one not in found]
