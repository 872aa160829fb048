"""FULL JOIN: which side is missing. Each row has one of them, so that both tests for it are never true together."""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import rejects_null
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_tested
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

_INSIDE = frozenset({"group", "limit", "sorted", "decorated"})


def order_missing_sides(
    store: Formulas, block: Block, values: Sequence[Formula], digest_of: Callable[[Formula], bytes]
) -> list[Formula]:
    """The values, in whose CASE two neighbours that ask which side is missing have an order of their own."""
    sides = [
        (join.left.sources[0], join.right.sources[0])
        for join in block.outer_joins
        if join.kind == "full" and join.left is not None and join.left.is_plain and join.right.is_plain
    ]
    if not sides:
        return list(values)

    def change(part: Formula) -> Formula:
        parts = formulas_of(part) if part.op == "case" else []
        branches = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        for place in range(len(branches) - 1):
            first, second = (_missing_side(condition) for condition, _ in branches[place : place + 2])
            is_pair = any({first, second} == set(pair) for pair in sides)
            if is_pair and digest_of(branches[place][0]) > digest_of(branches[place + 1][0]):
                branches[place : place + 2] = reversed(branches[place : place + 2])
        flat = [one for branch in branches for one in branch]
        return part if flat == parts[:-1] else store.make("case", *flat, parts[-1])

    visit = change_everywhere(store, change)
    return [visit(value) for value in values]


def _missing_side(condition: Formula) -> Formula | None:
    """The source that is missing if a condition is true: a column is NULL that its rows have."""
    tested = null_tested(condition)
    if tested is None or tested.op != "of":
        return None
    instance, inside = formulas_of(tested)
    rows = rows_of(instance) if instance.op == "inst" else instance
    while rows.op in _INSIDE and not (inside.has_aggregate or inside.has_window):
        rows = formulas_of(rows)[0]
    conditions = formulas_of(formulas_of(rows)[1]) if rows.op == "block" and not rows.is_open else []
    return instance if any(rejects_null(one, inside) for one in conditions) else None
