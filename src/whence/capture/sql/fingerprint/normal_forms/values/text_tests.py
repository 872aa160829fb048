"""Tests of texts that are written in several ways."""

import re
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS
from whence.capture.sql.fingerprint.normal_forms.values.text_cases import in_letters
from whence.capture.sql.provenance.formulas import Formula, Formulas

_PATTERN: Final = re.compile(r"(%?)([^%_\\\\]+)(%?)")
_INNER_PATTERN: Final = re.compile(r"(_+)([^%_\\\\]+)%", re.ASCII)
"""Any characters, as many as there are underscores, and a text behind them."""

_SEARCHES: Final = {"prefix": "startswith", "suffix": "endswith"}


def like(store: Formulas, dialect: str, value: Formula, pattern: Formula) -> Formula | None:
    """LIKE 'x%' as a test of the first characters, '%x' of the last ones, and '%x%' as a search; '__x%' as one of the
    third character.
    """
    inner = _INNER_PATTERN.fullmatch(str(pattern.args[0])) if pattern.op == "string" else None
    if inner is not None and inner[2].isascii() and dialect in ("duckdb", "postgres"):
        length, start = (store.make("number", str(number)) for number in (len(inner[2]), len(inner[1]) + 1))
        part = store.make("substring", "length", length, "start", start, "this", value)
        return compare(store, "eq", part, store.make("string", inner[2]))
    found = _PATTERN.fullmatch(str(pattern.args[0])) if pattern.op == "string" and dialect in EXACT_TEXTS else None
    if found is None:
        return None
    text = store.make("string", found[2])
    match found.groups():
        case ("", _, ""):
            return compare(store, "eq", value, text)
        case ("", _, "%"):
            return store.make("startswith", value, text)
        case ("%", _, ""):
            return store.make("endswith", value, text)
    return store.make("contains", value, text)


def search(dialect: str, name: str, arguments: list[Formula]) -> Formula | None:
    """DuckDB's `prefix` and `suffix`, which are `starts_with` and `ends_with`."""
    operation = _SEARCHES.get(name) if dialect == "duckdb" and len(arguments) == 2 else None
    return arguments[0].store.make(operation, *arguments) if operation is not None else None


def ilike(store: Formulas, dialect: str, value: Formula, pattern: Formula) -> Formula | None:
    """ILIKE of ASCII letters and digits, with `%` at the ends, as LIKE of the text in small letters."""
    text = str(pattern.args[0]) if pattern.op == "string" and dialect in EXACT_TEXTS else ""
    if not text.isascii() or not re.fullmatch("%?[A-Za-z0-9]+%?", text):
        return None
    if dialect != "duckdb" and "%" in text:
        return None
    return like(store, dialect, in_letters(store, "lower", value), store.make("string", text.lower()))


def prefix_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`left(c, 2) = 'xy'` as a test of the first characters."""
    for value, text in ((left, right), (right, left)):
        if store.dialect not in EXACT_TEXTS or operation not in ("eq", "neq") or text.op != "string":
            continue
        match value.args:
            case ("length", Formula() as length, "start", Formula(args=("1",)), "this", Formula() as inside) if (
                value.op == "substring" and integer_of(length) == len(str(text.args[0])) and str(text.args[0]).isascii()
            ):
                found = store.make("startswith", inside, text)
                return found if operation == "eq" else negate(store, found)
    return None
