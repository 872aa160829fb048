"""Dates and intervals that are written in several ways."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect
from whence.capture.sql.fingerprint.normal_forms.conditions.sides import whole_interval
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, minus, multiply
from whence.capture.sql.provenance.formulas import Formula, Formulas

_UNITS: Final = {"week": ("day", 7), "quarter": ("month", 3), "year": ("month", 12)}
_PARTS: Final = {"dayofmonth": "day", "doy": "dayofyear", "dow": "dayofweek", "isodow": "isodow"}
_DATE_PARTS: Final = frozenset({"year", "quarter", "month", "day"})
_KEPT_PARTS: Final = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "quarter", "month"),
    "day": ("year", "quarter", "month", "day"),
}
"""The parts of a date that are the same after cutting it off at a unit."""
_MORE_PARTS: Final = frozenset({"hour", "minute", "dayofweek", "dayofyear"})
"""Parts that not all dialects count in the same way under EXTRACT and as a function."""


def make_interval(store: Formulas, amount: Formula, unit: str) -> Formula | None:
    """An interval of a whole number of months, days or smaller units; None for any other."""
    text = str(amount.args[0]) if amount.op in ("number", "string") else ""
    name = unit.lower().removesuffix("s")
    if not text.removeprefix("-").isdigit() or name not in ("second", "minute", "hour", "day", "month", *_UNITS):
        return None
    name, factor = _UNITS.get(name, (name, 1))
    return store.make("interval", int(text) * factor, name)


def add_interval(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """A date and an interval; with several intervals their order counts, since months differ in their days."""
    if len(parts) == 2 and sum(part.op == "interval" for part in parts) == 1:
        value, interval = sorted(parts, key=lambda part: part.op == "interval")
        parts = (value, whole_interval(store, value, interval))
    return store.make("date_plus", *parts)


def subtract_interval(store: Formulas, value: Formula, interval: Formula) -> Formula:
    match interval.args:
        case (int() as amount, str() as unit):
            return add_interval(store, [value, store.make("interval", -amount, unit)])
    return store.make("sub", value, interval)


def fold_date(store: Formulas, value: Formula) -> Formula:
    """A literal date and an interval of days or months as the date that they give, which a comparison alone may do:
    the sum has another type.
    """
    match (value.op, *value.args):
        case ("date_plus", Formula() as literal, Formula(op="interval", args=(int() as amount, str() as unit))):
            day = _moved(date_of(literal), amount, unit)
            return value if day is None else make_date(store, day)
    return value


def days_between(store: Formulas, first: Formula, last: Formula) -> Formula:
    """The days from one day to another."""
    return store.make("datediff", "day", first, last)


def parts_between(store: Formulas, unit: str, first: Formula, last: Formula) -> Formula | None:
    """The boundaries of years, quarters or months from one date or time to another, as a difference of their parts.

    DuckDB counts boundaries: that between two days is one, if they are in neighbouring months.
    """
    per_year = {"year": 1, "quarter": 4, "month": 12}.get(unit)
    if per_year is None or any(type_of(one) not in ("date", "timestamp") for one in (first, last)):
        return None
    years = [extract(store, "year", last), minus(store, extract(store, "year", first))]
    if per_year == 1:
        return add(store, years)
    within = [extract(store, unit, last), minus(store, extract(store, unit, first))]
    return add(store, [multiply(store, [store.make("number", str(per_year)), add(store, years)]), *within])


def extract(store: Formulas, part: str, value: Formula) -> Formula:
    """A part of a date or a time: what is cut off does not decide on the rest."""
    inside = value
    while inside.op == "date_trunc" or (inside.op == "cast" and type_of(inside) == "date"):
        unit = str(inside.args[0]) if inside.op == "date_trunc" else "day"
        whole = formulas_of(inside)[0]
        is_moment = type_of(whole) in ("date", "timestamp") or whole.op == "date_trunc"
        if part not in _KEPT_PARTS.get(unit, ()) or not is_moment:
            break
        inside = whole
    return store.make("extract", part, inside)


def truncated(store: Formulas, name: str, unit: str, value: Formula) -> Formula:
    """The first moment of the month, day or the like of a value. `name`: of the function, since their types differ."""
    return store.make("date_trunc", unit, name, value)


def month_of(store: Formulas, year: Formula, month: Formula, day: Formula) -> Formula | None:
    """`make_date(year(x), month(x), 1)` as the truncated month, and of three numbers as a literal."""
    found = [one for one in map(integer_of, (year, month, day)) if one is not None]
    if len(found) < 3:
        return _month(store, year, month, day)
    try:
        return make_date(store, date(*found))
    except ValueError:
        return None


def _month(store: Formulas, year: Formula, month: Formula, day: Formula) -> Formula | None:
    match (year.op, *year.args, month.op, *month.args):
        case ("extract", "year", Formula() as first, "extract", "month", Formula() as second) if (
            first is second and integer_of(day) == 1 and type_of(first) in ("date", "timestamp")
        ):
            return store.make("cast", truncated(store, "timestamptrunc", "month", first), store.make("type", "date"))
    return None


def last_day(store: Formulas, value: Formula) -> Formula | None:
    """The last day of the month of a literal date."""
    day = date_of(value)
    return None if day is None else make_date(store, day.replace(day=monthrange(day.year, day.month)[1]))


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
            low, after = make_date(store, first), make_date(store, _add_months(first, months))
            return connect(store, "and", [compare(store, "lte", low, inside), compare(store, "lt", inside, after)])
    return None


def _moved(day: date | None, amount: int, unit: str) -> date | None:
    """A day so many days or months later; None for other units, and outside of the years that Python knows."""
    if day is None or unit not in ("day", "month"):
        return None
    try:
        return day + timedelta(days=amount) if unit == "day" else _add_months(day, amount)
    except (OverflowError, ValueError):
        return None


def _add_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def part_of(part: str) -> str:
    """The name of a part of a date."""
    return _PARTS.get(part.lower(), part.lower())


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


def is_shared_part(dialect: str, part: str) -> bool:
    """Whether a part of a date is the same as a function and under EXTRACT."""
    return part in _DATE_PARTS or (part in _MORE_PARTS and dialect in ("spark", "databricks", "hive", "duckdb"))


def date_part(dialect: str, name: str, arguments: Sequence[Formula]) -> Formula | None:
    """`date_part('year', x)`, where the parser leaves it as a call."""
    if name not in ("date_part", "datepart") or len(arguments) != 2 or arguments[0].op != "string":
        return None
    part = part_of(str(arguments[0].args[0]))
    return arguments[1].store.make("extract", part, arguments[1]) if is_shared_part(dialect, part) else None


def at_time_zone(dialect: str, name: str, arguments: Sequence[Formula]) -> Formula | None:
    """`timezone(zone, x)`, the function that `x AT TIME ZONE zone` calls."""
    if name != "timezone" or len(arguments) != 2 or dialect not in ("duckdb", "postgres"):
        return None
    zone, value = arguments
    return value.store.make("attimezone", "this", value, "zone", zone)
