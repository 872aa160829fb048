"""Literals, and the parts of a formula."""

import re
from collections.abc import Sequence
from typing import Final

from whence.capture.sql.provenance.formulas import Formula

INTEGER = re.compile(r"-?\d{1,9}")
_EXACT_LITERALS: Final = frozenset({"duckdb", "postgres", "redshift", "snowflake"})
LITERALS: Final = frozenset({"number", "string", "boolean"})
MOST_PARTS: Final = 200
"""Of a flat sum or text: with `a + a` in each of 50 queries, each of which reads the last, it would have 2⁵⁰."""


def integer_of(value: object) -> int | None:
    """The number that a formula is, if it is a whole one."""
    if not isinstance(value, Formula) or value.op != "number" or not INTEGER.fullmatch(str(value.args[0])):
        return None
    return int(str(value.args[0]))


def is_exact_fraction(value: Formula) -> bool:
    """Whether a number with a fraction is one without rounding, as such literals are in some dialects."""
    is_fraction = value.op == "number" and re.fullmatch(r"-?\d{1,9}\.\d{1,9}", str(value.args[0]))
    return bool(is_fraction) and value.store.dialect in _EXACT_LITERALS


def formulas_of(value: Formula) -> list[Formula]:
    """The arguments that are formulas."""
    return list(value.parts)


def flat_parts(operation: str, parts: Sequence[Formula]) -> Sequence[Formula]:
    """The parts of a sum, with the parts of sums in place of these; the parts themselves if that would be too many."""
    flat = [one for part in parts for one in (formulas_of(part) if part.op == operation else (part,))]
    return flat if len(flat) <= MOST_PARTS else parts


def is_literal(value: Formula) -> bool:
    """Whether a value is a literal, perhaps with its type."""
    if value.op == "cast" and isinstance(value.args[0], Formula):
        return value.args[0].op in LITERALS
    return value.op in LITERALS
