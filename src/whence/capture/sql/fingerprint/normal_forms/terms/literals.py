"""Literals, and the parts of a formula."""

import re
from typing import Final

from whence.capture.sql.provenance.formulas import Formula

INTEGER = re.compile(r"-?\d{1,9}")
LITERALS: Final = frozenset({"number", "string", "boolean"})


def integer_of(value: object) -> int | None:
    """The number that a formula is, if it is a whole one."""
    if not isinstance(value, Formula) or value.op != "number" or not INTEGER.fullmatch(str(value.args[0])):
        return None
    return int(str(value.args[0]))


def formulas_of(value: Formula) -> list[Formula]:
    """The arguments that are formulas."""
    return [arg for arg in value.args if isinstance(arg, Formula)]


def is_literal(value: Formula) -> bool:
    """Whether a value is a literal, perhaps with its type."""
    if value.op == "cast" and isinstance(value.args[0], Formula):
        return value.args[0].op in LITERALS
    return value.op in LITERALS
