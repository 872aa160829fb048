"""Days: dates without a time, and bounds of them."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

TIME: Final = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")


def date_of(value: Formula) -> date | None:
    """The day that a literal date is."""
    if value.op != "cast" or value.args[1] is not value.store.make("type", "date"):
        return None
    inside = value.args[0]
    text = str(inside.args[0]) if isinstance(inside, Formula) and inside.op == "string" else ""
    try:
        return date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None


def day_of_moment(value: Formula) -> date | None:
    """The day of a literal time without a zone."""
    match value.args:
        case (Formula(op="string", args=(str() as text,)), Formula(op="type", args=("timestamp",))) if (
            value.op == "cast" and TIME.fullmatch(text) and text.isascii()
        ):
            try:
                return datetime.fromisoformat(text).date()
            except ValueError:
                return None
    return None


def make_date(store: Formulas, day: date) -> Formula:
    return store.make("cast", store.make("string", day.isoformat()), store.make("type", "date"))


def add_months(day: date, months: int) -> date:
    """Add months to a date; the day is at most the last one of the month. Raises ValueError after the year 9999."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def is_day(value: Formula) -> bool:
    """Whether a value is a day without a time, or NULL."""
    parts = formulas_of(value)
    if value.op in ("cast", "trycast"):
        return value.args[1] is value.store.make("type", "date")
    if value.op == "of":
        return is_day(parts[1]) or type_of(value) == "date"
    if value.op == "aggregate":
        return value.args[0] in ("min", "max") and len(parts) == 1 and is_day(parts[0])
    return (value.op == "coalesce" and all(map(is_day, parts))) or type_of(value) == "date"


def with_day(store: Formulas, value: Formula, text: Formula) -> Formula:
    """A text that is compared with a day or a time as what it is."""
    if text.op != "string":
        return text
    is_time = value.op == "of" and type_of(value) == "timestamp" and TIME.fullmatch(str(text.args[0]))
    if is_time:
        return store.make(
            "cast", store.make("string", withoutmidnight(str(text.args[0]))), store.make("type", "timestamp")
        )
    if not is_day(value):
        return text
    made = store.make("cast", text, store.make("type", "date"))
    return made if date_of(made) is not None else text


def withoutmidnight(text: str) -> str:
    """A time as a text, without the time if it is the first moment of a day."""
    return text[:10] if re.fullmatch(r"[ T]00:00(:00(\.0+)?)?", text[10:]) else text


def moved_day(store: Formulas, value: Formula) -> Formula | None:
    """`d + 14` for `d + INTERVAL 14 DAY` of a day, which is the midnight of that day. None for any other value."""
    match (value.op, *value.args):
        case ("date_plus", Formula() as day, Formula(op="interval", args=(int() as days, "day"))) if (
            is_day(day) and date_of(day) is None and store.dialect in ("duckdb", "postgres") and days
        ):
            parts = formulas_of(day) if day.op == "add" else [day]
            numbers = [one for one in map(integer_of, parts) if one is not None]
            rest = [part for part in parts if integer_of(part) is None]
            if len(rest) == 1 and (total := sum(numbers) + days):
                return store.make("add", rest[0], store.make("number", str(total)))
            return rest[0] if len(rest) == 1 else None
    return None


def compared_days(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
    """A comparison of days, of which an interval of days makes midnights, and of the day of a time with one of them.

    `d <= t` is `d <= CAST(t AS DATE)`, and `t < d` is `CAST(t AS DATE) < d`: a time is before a midnight exactly if its
    day is before the day that begins then.
    """
    left_day, right_day = moved_day(store, left), moved_day(store, right)
    if left_day is not None and (right_day is not None or is_day(right)):
        return operation, left_day, right_day if right_day is not None else right
    if right_day is not None and is_day(left):
        return operation, left, right_day
    if store.dialect != "duckdb":
        return operation, left, right
    if operation == "lte" and is_day(left) and date_of(left) is None and type_of(right) == "timestamp":
        return operation, left, _day(store, right)
    if operation == "lte" and left_day is not None and type_of(right) == "timestamp":
        return operation, left_day, _day(store, right)
    if operation == "lt" and type_of(left) == "timestamp" and is_whole_day(right):
        return operation, _day(store, left), right_day if right_day is not None else right
    return operation, left, right


def is_whole_day(value: Formula) -> bool:
    """Whether a value is a day that is no literal, or a midnight that an interval of days makes of one."""
    return date_of(value) is None and (is_day(value) or moved_day(value.store, value) is not None)


def day_bound(
    store: Formulas, operation: str, left: Formula, right: Formula, is_day: Callable[[Formula], bool] = is_day
) -> tuple[str, Formula, Formula]:
    """`d <= DATE '2024-01-31'` for `d < DATE '2024-02-01'`, if d is a day."""
    low, high = date_of(left), date_of(right)
    if operation != "lt" or (low is None) == (high is None):
        return operation, left, right
    if high is not None and is_day(left) and high > date.min:
        return "lte", left, make_date(store, high - timedelta(days=1))
    if low is not None and is_day(right) and low < date.max:
        return "lte", make_date(store, low + timedelta(days=1)), right
    return operation, left, right


def day_of_time(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
    """`CAST(t AS DATE) >= d` for `t >= d` and `<= d - 1` for `t < d`, of a time without a zone and a midnight d.

    A time is on a day or later exactly if its day is.
    """
    if operation == "lte" and (day := midnight(left)) is not None and type_of(right) == "timestamp":
        return operation, make_date(store, day), _day(store, right)
    if operation == "lt" and (day := midnight(right)) is not None and type_of(left) == "timestamp" and day > date.min:
        return "lte", _day(store, left), make_date(store, day - timedelta(days=1))
    return operation, left, right


def day_of(store: Formulas, value: Formula) -> Formula:
    """The day of a time without a zone; any other value as it is."""
    if type_of(value) != "timestamp":
        return value
    inside = value.args[0] if value.op == "cast" else None
    text = str(inside.args[0]) if isinstance(inside, Formula) and inside.op == "string" else ""
    literal = store.make("cast", store.make("string", text[:10]), store.make("type", "date"))
    return literal if TIME.fullmatch(text) and date_of(literal) is not None else _day(store, value)


def midnight(value: Formula) -> date | None:
    """The day whose first moment a literal is."""
    if value.op != "cast" or value.args[1] is not value.store.make("type", "timestamp"):
        return date_of(value)
    return date_of(value.store.make("cast", value.args[0], value.store.make("type", "date")))


def _day(store: Formulas, time: Formula) -> Formula:
    inside = formulas_of(time)[0] if time.op == "date_trunc" and time.args[0] == "day" else time
    return store.make("cast", inside, store.make("type", "date"))


def first_moment(value: Formula) -> Formula:
    """The first moment of a week, month, quarter or year instead of its day, which tells them apart as well."""
    inside = value.parts[0] if value.op == "cast" and type_of(value) == "date" else value
    is_first = inside.op == "date_trunc" and inside.args[0] in ("week", "month", "quarter", "year")
    return inside if is_first else value
