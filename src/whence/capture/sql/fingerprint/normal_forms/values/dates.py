"""Dates and intervals that are written in several ways."""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.months import UNITS, is_moment
from whence.capture.sql.fingerprint.normal_forms.conditions.sides import whole_interval
from whence.capture.sql.fingerprint.normal_forms.terms.days import add_months, date_of, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.signs import minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, multiply
from whence.capture.sql.provenance.formulas import Formula, Formulas

_UNITS: Final = {"week": ("day", 7), "quarter": ("month", 3), "year": ("month", 12)}
_SECONDS: Final = {"hour": 3_600, "minute": 60, "second": 1}
_GREATER: Final = {"second": "minute", "minute": "hour"}
"""The unit that has sixty of another one."""
_PARTS: Final = {
    "dayofmonth": "day",
    "doy": "dayofyear",
    "dow": "dayofweek",
    "dayofweekiso": "isodow",
    "weekofyear": "week",
}
_DATE_PARTS: Final = frozenset({"year", "quarter", "month", "day"})
_KEPT_PARTS: Final = {
    "year": ("year",),
    "quarter": ("year", "quarter"),
    "month": ("year", "quarter", "month"),
    "day": ("year", "quarter", "month", "day"),
}
"""The parts of a date that are the same after cutting it off at a unit."""
_PLAIN_MONTHS: Final = frozenset({"duckdb", "postgres"})
"""Dialects in which a time some months later is in the month that is as many later."""
_MORE_PARTS: Final = frozenset({"hour", "minute", "dayofweek", "dayofyear"})
"""Parts that not all dialects count in the same way under EXTRACT and as a function."""
_WEEK_PARTS: Final = {"duckdb": frozenset({"isodow", "week"})}


def make_interval(store: Formulas, amount: Formula, unit: str) -> Formula | None:
    """An interval of a whole number of months, days or smaller units; None for any other."""
    text = str(amount.args[0]) if amount.op in ("number", "string") else ""
    name = unit.lower().removesuffix("s")
    if not text.removeprefix("-").isdigit() or name not in ("second", "minute", "hour", "day", "month", *_UNITS):
        return None
    name, factor = _UNITS.get(name, (name, 1))
    number = int(text) * factor
    while name in _GREATER and number % 60 == 0 and number:
        name, number = _GREATER[name], number // 60
    return store.make("interval", number, name)


def interval_of_text(store: Formulas, text: Formula) -> Formula | None:
    """`INTERVAL '1 hour 30 minutes'`: an interval of hours, minutes and seconds that are written in one text."""
    parts = str(text.args[0]).lower().split() if text.op == "string" else []
    seconds = [_SECONDS.get(unit.removesuffix("s")) for unit in parts[1::2]]
    if len(parts) % 2 or not parts or None in seconds or not all(re.fullmatch(r"\d{1,9}", one) for one in parts[::2]):
        return None
    total = sum(int(number) * (size or 0) for number, size in zip(parts[::2], seconds, strict=True))
    return make_interval(store, store.make("number", str(total)), "second")


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
    if per_year is None or not (is_moment(first) and is_moment(last)):
        return None
    years = [extract(store, "year", last), minus(store, extract(store, "year", first))]
    if per_year == 1:
        return add(store, years)
    within = [extract(store, unit, last), minus(store, extract(store, unit, first))]
    return add(store, [multiply(store, [store.make("number", str(per_year)), add(store, years)]), *within])


def extract(store: Formulas, part: str, value: Formula) -> Formula:
    """A part of a date or a time: what is cut off does not decide on the rest."""
    return store.make("extract", part, without_cut(part, as_last_day(store, value) or value))


def without_cut(part: str, value: Formula) -> Formula:
    """The moment that is cut off at a unit, where a part of it is the same before."""
    inside = value
    while inside.op == "date_trunc" or (inside.op == "cast" and type_of(inside) == "date"):
        unit = str(inside.args[0]) if inside.op == "date_trunc" else "day"
        whole = formulas_of(inside)[0]
        is_moment = type_of(whole) in ("date", "timestamp") or whole.op == "date_trunc"
        if part not in _KEPT_PARTS.get(unit, ()) or not is_moment:
            break
        inside = whole
    return inside


def truncated(store: Formulas, name: str, unit: str, value: Formula) -> Formula:
    """The first moment of the month, day or the like of a value. `name`: of the function, since their types differ.

    That of a value some months later is as many months later.
    """
    match (value.op, *value.args):
        case ("date_plus", Formula() as inside, Formula(op="interval", args=(int() as amount, "month")) as later) if (
            unit in UNITS and amount % UNITS[unit] == 0 and is_moment(inside) and store.dialect in _PLAIN_MONTHS
        ):
            return store.make("date_plus", truncated(store, name, unit, inside), later)
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
    unit, parts = _first_month(store, month)
    match (year.op, *year.args, parts.op, *parts.args):
        case ("extract", "year", Formula() as first, "extract", found, Formula() as second) if (
            first is second and found == unit and integer_of(day) == 1 and type_of(first) in ("date", "timestamp")
        ):
            return store.make("cast", truncated(store, "timestamptrunc", unit, first), store.make("type", "date"))
    return None


def _first_month(store: Formulas, month: Formula) -> tuple[str, Formula]:
    """The unit whose first month a number is, and the part of a date: `3 * quarter(x) - 2` begins a quarter."""
    terms = formulas_of(month) if month.op == "add" else []
    if len(terms) == 2 and store.make("number", "-2") in terms:
        (product,) = (one for one in terms if integer_of(one) != -2) if terms[0] is not terms[1] else (month,)
        factors = formulas_of(product) if product.op == "mul" else []
        if len(factors) == 2 and store.make("number", "3") in factors:
            return "quarter", next(one for one in factors if integer_of(one) != 3)
    return "month", month


def last_day(store: Formulas, value: Formula) -> Formula | None:
    """The last day of the month of a literal date, and in DuckDB of any date or time."""
    if (day := date_of(value)) is not None:
        return make_date(store, day.replace(day=monthrange(day.year, day.month)[1]))
    return store.make("lastday", "this", without_cut("month", value)) if store.dialect == "duckdb" else None


def as_last_day(store: Formulas, value: Formula) -> Formula | None:
    """`last_day(x)` for the day before the first one of the following month, in DuckDB."""
    match (value.op, *value.args):
        case ("date_plus", Formula() as following, Formula(op="interval", args=(-1, "day"))):
            inside = _month_before(following)
        case ("add", *parts) if len(parts) == 2 and store.make("number", "-1") in parts:
            (following,) = (one for one in formulas_of(value) if integer_of(one) != -1)
            inside = _month_before(following) if type_of(following) == "date" else None
        case _:
            return None
    return None if inside is None or store.dialect != "duckdb" else last_day(store, inside)


def after_last_day(store: Formulas, value: Formula) -> Formula | None:
    """The first day of the following month for `last_day(x) + 1`."""
    parts = formulas_of(value) if value.op == "add" else []
    last = [one for one in parts if one.op == "lastday"]
    if len(parts) != 2 or len(last) != 1 or store.make("number", "1") not in parts or store.dialect != "duckdb":
        return None
    first = truncated(store, "timestamptrunc", "month", formulas_of(last[0])[0])
    following = store.make("date_plus", first, store.make("interval", 1, "month"))
    return store.make("cast", following, store.make("type", "date"))


def _month_before(value: Formula) -> Formula | None:
    """The moment in the month before the one that a value is the first moment of."""
    match (value.op, *value.args):
        case ("cast", Formula() as inside, Formula(op="type", args=("date" | "timestamp",))):
            return _month_before(inside)
        case ("date_plus", Formula() as first, Formula(op="interval", args=(1, "month"))):
            while first.op == "cast" and type_of(first) in ("date", "timestamp"):
                first = formulas_of(first)[0]
            is_first = first.op == "date_trunc" and first.args[0] == "month" and is_moment(first)
            return formulas_of(first)[0] if is_first else None
        case ("date_trunc", "month", _, Formula(op="date_plus", args=(Formula() as inside, Formula() as interval))):
            is_next = interval.op == "interval" and interval.args == (1, "month")
            return inside if is_next and is_moment(inside) else None
    return None


def _moved(day: date | None, amount: int, unit: str) -> date | None:
    """A day so many days or months later; None for other units, and outside of the years that Python knows."""
    if day is None or unit not in ("day", "month"):
        return None
    try:
        return day + timedelta(days=amount) if unit == "day" else add_months(day, amount)
    except (OverflowError, ValueError):
        return None


def part_of(part: str) -> str:
    """The name of a part of a date."""
    return _PARTS.get(part.lower(), part.lower())


def is_shared_part(dialect: str, part: str) -> bool:
    """Whether a part of a date is the same as a function and under EXTRACT."""
    if part in _WEEK_PARTS.get(dialect, ()):
        return True
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
