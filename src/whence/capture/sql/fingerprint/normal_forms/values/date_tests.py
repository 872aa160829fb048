"""Comparisons of parts of dates with literals, as ranges of days."""

import re
from datetime import date
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.dates import add_months
from whence.capture.sql.provenance.formulas import Formula, Formulas

_FORMATS: Final = {"%Y": ("year", r"\d{4}"), "%Y-%m": ("month", r"\d{4}-\d\d"), "%Y-%m-%d": ("day", r"\d{4}-\d\d-\d\d")}
"""Texts of whole years, months and days in the format of DuckDB's `strftime`, and their patterns."""


def part_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """A comparison of a year, a truncated date or a formatted one with a literal; None for another one."""
    for test in (year_test, trunc_test, format_test):
        if (found := test(store, operation, left, right)) is not None:
            return found
    return None


_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}


def trunc_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`date_trunc('month', d) = DATE '2024-02-01'` as the days of that month."""
    for value, literal in ((left, right), (right, left)):
        first, months = date_of(literal), _MONTHS.get(str(value.args[0])) if value.op == "date_trunc" else None
        if operation != "eq" or first is None or months is None or first.year >= 9999:
            continue
        inside = formulas_of(value)[0]
        is_first = first.day == 1 and (first.month - 1) % months == 0
        if is_first and type_of(inside) in ("date", "timestamp"):
            low, after = make_date(store, first), make_date(store, add_months(first, months))
            return connect(store, "and", [compare(store, "lte", low, inside), compare(store, "lt", inside, after)])
    return None


def format_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`strftime(d, '%Y-%m') = '2024-02'` as the days of that month, of years with four digits."""
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


def year_test(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`year(d) = 2024` as the days of that year, if it is one of four digits."""
    for value, number in ((left, right), (right, left)):
        year = integer_of(number)
        if operation == "eq" and value.op == "extract" and value.args[0] == "year" and year and 1000 <= year < 9999:
            inside = value.args[1]
            assert isinstance(inside, Formula)
            first, after = (make_date(store, date(one, 1, 1)) for one in (year, year + 1))
            return connect(store, "and", [compare(store, "lte", first, inside), compare(store, "lt", inside, after)])
    return None
