"""LATERAL queries that find the groups of a row by equality, as joins with the groups of all rows.

`FROM t, LATERAL (SELECT g, sum(x) FROM u WHERE u.k = t.k GROUP BY g)` gives for a row of t the groups of the rows of u
with its k. They are the groups by k and g whose k is that of the row. Without GROUP BY the query gives a row even where
there is none of u, so it is none of these. The two values are of one type: texts that equal one number would be two
groups.
"""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.sources.existence import key_pair
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import ForeignSourceError, Reopened, columns_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def join_laterals(
    store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """The same rows and values, with joins in place of grouped LATERAL queries."""
    rest = list(values)
    for instance in list(block.sources) if not block.outer_joins else ():
        rows = rows_of(instance)
        is_grouped = rows.op == "group" and isinstance(rows.args[1], Formula) and rows.args[1].op == "set"
        if rows.is_open and is_grouped and not rows.is_volatile:
            try:
                block, rest = _join(store, block, rest, instance, close)
            except ForeignSourceError:
                continue
    return block, rest


def _join(
    store: Formulas, block: Block, values: list[Formula], instance: Formula, close: CloseBlock
) -> tuple[Block, list[Formula]]:
    """Raises ForeignSourceError if the rows depend on the other sources otherwise than by equality."""
    inside, keys = formulas_of(rows_of(instance))
    inner = Reopened(store, inside)
    own = set(inner.block.sources)
    correlated = [one for one in inner.block.conditions if not instances_of(one) <= own]
    pairs = [key_pair(one, own) for one in correlated]
    columns = columns_of(instance, [*values, *block.conditions, *(one for one in block.sources if one is not instance)])
    is_one_type = all(type_of(key) == type_of(outer) != "" for key, outer in pairs)
    if not pairs or not columns or not is_one_type or any(rows_of(one).is_open for one in own):
        raise ForeignSourceError
    wanted = [key for key, _ in pairs] + [inner.open(one) for one in formulas_of(keys)]
    opened = [inner.open_total(one) if one.has_aggregate else inner.open(one) for one in columns]
    if any(not instances_of(one) <= own for one in (*wanted, *opened)):
        raise ForeignSourceError
    rest = [one for one in inner.block.conditions if one not in correlated]
    rows, closed = close(store, Block(inner.block.sources, [], rest), [*wanted, *opened])
    grouped = store.instance(store.make("group", rows, store.make("set", *closed[: len(wanted)])))
    found = zip(columns, closed[len(wanted) :], strict=True)
    moved = {store.make("of", instance, old): store.push(new, grouped) for old, new in found}
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    places = zip(pairs, closed, strict=False)
    equal = [store.make("eq", store.push(place, grouped), outer) for (_, outer), place in places]
    sources = [grouped if one is instance else one for one in block.sources]
    changed = change_block(Block(sources, [], block.conditions, block.is_used), visit)
    changed.conditions += equal
    return changed, [visit(value) for value in values]
