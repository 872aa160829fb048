"""Outer joins behind groups of which HAVING wants a joined row: they are inner joins."""

from collections.abc import Sequence

from whence.capture.sql.fingerprint.block import Block, OuterJoin
from whence.capture.sql.fingerprint.keys import tells_zeros_apart
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import rejects_null
from whence.capture.sql.fingerprint.normal_forms.joins.outer_joins import is_missing, rejects_missing
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.provenance.formulas import Formula

_OF_VALUES = frozenset({"sum", "avg", "min", "max"})
"""Aggregates that are NULL without a value."""


def with_demanded_joins(block: Block, keys: Sequence[Formula], having: Sequence[Formula]) -> Block:
    """The block with inner joins for those LEFT JOINs of which `having` wants a row in each group.

    What ON asks of the left side are keys, so in a group all rows find one or none does: groups without one are gone.
    """
    for join in list(block.outer_joins):
        own = frozenset(join.right.instances())
        is_by_keys = all(_reads_only(on, frozenset(keys), own) for on in join.on)
        is_by_keys = is_by_keys and not any(tells_zeros_apart(on, key) for on in join.on for key in keys)
        if join.kind == "left" and join.on and is_by_keys and any(_demands_row(one, own) for one in having):
            others = [one for one in block.outer_joins if one is not join]
            block = _joined(Block([*block.sources], others, [*block.conditions], block.is_used), join)
    return block


def _joined(block: Block, join: OuterJoin) -> Block:
    block.add(join.right)
    block.conditions += join.on
    return block


def _demands_row(condition: Formula, own: frozenset[Formula]) -> bool:
    """Whether a condition is not true for a group in which all columns of these sources are NULL."""
    if condition.op == "and":
        return any(_demands_row(part, own) for part in formulas_of(condition))
    low, *rest = formulas_of(condition) if condition.op == "lte" else [condition]
    if rest and (integer_of(low) or 0) >= 1 and rest[0].op == "aggregate" and rest[0].args[0] == "count":
        return _is_counted(rest[0].parts[0], own)
    parts = [part for part in formulas_of(condition) if part.op == "aggregate" and part.args[0] in _OF_VALUES]
    return any(rejects_null(condition, part) and is_missing(part.parts[0], own) for part in parts)


def _is_counted(value: Formula, own: frozenset[Formula]) -> bool:
    """Whether a count leaves out rows in which all columns of these sources are NULL."""
    if value.op == "case" and len(value.parts) == 3 and value.parts[2].op == "null":
        return rejects_missing(value.parts[0], own) or is_missing(value.parts[1], own)
    return is_missing(value, own)


def _reads_only(value: Formula, keys: frozenset[Formula], own: frozenset[Formula]) -> bool:
    """Whether a value reads keys and these sources alone."""
    if value in keys or value in own or not value.is_open:
        return True
    return value.op != "inst" and all(_reads_only(part, keys, own) for part in value.parts)
