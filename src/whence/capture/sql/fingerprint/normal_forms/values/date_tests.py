"""Comparisons of formatted dates, as ranges of days and as comparisons of truncated months."""

import re
from datetime import date
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.days import add_months, day_of, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_FORMATS: Final = {
    "%Y": ("year", r"\d{4}"),
    "%Y-%m": ("month", r"\d{4}-\d\d"),
    "%Y-%m-%d": ("day", r"\d{4}-\d\d-\d\d"),
    "%Y%m": ("month", ""),
    "%Y%m%d": ("day", ""),
}
"""Formats of DuckDB's `strftime` for whole years, months and days, and the patterns of literals beside them."""


_MONTHS: Final = {"month": 1, "year": 12}


def format_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`strftime(d, '%Y-%m') = '2024-02'` as the days of that month, of years with four digits; of two moments as one of
    their truncated months.
    """
    if operation in ("eq", "neq") and store.dialect == "duckdb":
        one, other = _formatted(left), _formatted(right)
        if one is not None and other is not None and one[1] is other[1]:
            return compare(store, operation, *(_truncated(store, side[0], side[1][0]) for side in (one, other)))
    for value, text in ((left, right), (right, left)):
        inside = _formatted(value) if operation in ("eq", "neq") and store.dialect == "duckdb" else None
        if inside is None or text.op != "string":
            continue
        moment, (unit, pattern) = inside
        literal = str(text.args[0])
        day = _day_of(literal) if re.fullmatch(pattern, literal, re.ASCII) else None
        if day is None:
            continue
        first, after = make_date(store, day), make_date(store, _after(day, unit))
        found = connect(store, "and", [compare(store, "lte", first, moment), compare(store, "lt", moment, after)])
        return found if operation == "eq" else negate(store, found)
    return None


def _truncated(store: Formulas, moment: Formula, unit: str) -> Formula:
    return day_of(store, moment) if unit == "day" else store.make("date_trunc", unit, "timestamptrunc", moment)


def _formatted(value: Formula) -> tuple[Formula, tuple[str, str]] | None:
    """The moment that `strftime` writes, and the unit and the pattern of its format."""
    named = dict(zip(value.args[::2], value.args[1::2], strict=False)) if value.op == "timetostr" else {}
    moment, pattern = named.get("this"), named.get("format")
    if len(named) != 2 or not isinstance(moment, Formula) or not isinstance(pattern, Formula):
        return None
    known = _FORMATS.get(str(pattern.args[0])) if pattern.op == "string" else None
    return (moment, known) if known and type_of(moment) in ("date", "timestamp") else None


def _day_of(text: str) -> date | None:
    """The first day of a year, a month or a day as a text, if it is before the last year."""
    try:
        day = date.fromisoformat(text + "0000-01-01"[len(text) :])
    except ValueError:
        return None
    return day if 1000 <= day.year < 9999 else None


def _after(day: date, unit: str) -> date:
    return date.fromordinal(day.toordinal() + 1) if unit == "day" else add_months(day, _MONTHS[unit])
