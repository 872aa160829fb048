"""Tests of texts that are written in several ways."""

import re
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_EXACT: Final = frozenset({"duckdb", "postgres", "redshift", "spark", "databricks", "hive", "bigquery", "snowflake"})
"""Dialects that compare texts character by character: case and blanks at the end count."""
_PATTERN: Final = re.compile(r"(%?)([^%_\\\\]+)%")


def like(store: Formulas, dialect: str, value: Formula, pattern: Formula) -> Formula | None:
    """LIKE 'x%' as a test of the first characters, and '%x%' as a search."""
    found = _PATTERN.fullmatch(str(pattern.args[0])) if pattern.op == "string" and dialect in _EXACT else None
    if found is None:
        return None
    return store.make("contains" if found[1] else "startswith", value, store.make("string", found[2]))


def prefix_test(store: Formulas, dialect: str, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`left(c, 2) = 'xy'` as a test of the first characters."""
    for value, text in ((left, right), (right, left)):
        if dialect not in _EXACT or operation not in ("eq", "neq") or text.op != "string":
            continue
        match value.args:
            case ("length", Formula() as length, "start", Formula(args=("1",)), "this", Formula() as inside) if (
                value.op == "substring" and integer_of(length) == len(str(text.args[0])) and str(text.args[0]).isascii()
            ):
                found = store.make("startswith", inside, text)
                return found if operation == "eq" else negate(store, found)
    return None
