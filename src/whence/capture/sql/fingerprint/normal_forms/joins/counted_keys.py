"""Numbers of keys in joined groups: a group that is joined by its key has one that is not NULL, in each of its rows.

So `count(k)` of `JOIN (SELECT k, count(k) AS n FROM t GROUP BY k) g ON g.k = …` is `count(*)`.
"""

from collections.abc import Iterator, Sequence

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas


def count_rows_of_keys(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values, with numbers of rows in place of numbers of keys."""
    star = store.make("aggregate", "count", store.make("star"))
    moved = {
        store.make("of", group, store.make("aggregate", "count", key)): store.make("of", group, star)
        for group, conditions in _joined(block)
        for key in _keys(group)
        if is_known(conditions, store.push(key, group))
    }
    if not moved:
        return block, list(values)
    visit = change_everywhere(store, lambda part: moved.get(part, part))
    return change_block(block, visit), [*map(visit, values)]


def _joined(block: Block) -> Iterator[tuple[Formula, Sequence[Formula]]]:
    """The sources of a block, each with the conditions that hold where it is there."""
    for source in block.sources:
        yield source, block.conditions
    for join in block.outer_joins:
        if join.kind == "left" and join.right.is_plain:
            yield join.right.sources[0], join.on


def _keys(group: Formula) -> Sequence[Formula]:
    rows = rows_of(group)
    is_set = rows.op == "group" and not rows.is_open and len(rows.parts) > 1 and rows.parts[1].op == "set"
    return formulas_of(rows.parts[1]) if is_set else ()
