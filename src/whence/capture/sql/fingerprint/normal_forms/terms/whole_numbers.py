"""Values that are whole numbers, and bounds of them."""

from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_point_in_time, is_whole_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_COUNTS: Final = ("count", "rownumber", "rank", "denserank", "ntile")
_LIMITS: Final = {
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "dayofyear": (1, 366),
    "hour": (0, 23),
    "minute": (0, 59),
}
"""The least and the greatest number that a part of a date or a time may be."""
_WEEK_LIMITS: Final = {"dayofweek": (0, 6), "isodow": (1, 7), "week": (1, 53)}
"""So they are in DuckDB; other dialects count from another day."""
_WHOLE_PARTS: Final = ("year", *_LIMITS, *_WEEK_LIMITS)


def whole_bound(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
    """`2 <= count(*)` for `1 < count(*)`, since counts are whole numbers, `0 = count(*)` for `count(*) < 1`."""
    low, high = integer_of(left), integer_of(right)
    value, number = (right, low) if high is None else (left, high)
    if number is None or not is_whole(value):
        return operation, left, right
    if operation == "lt":
        operation, number = "lte", number + (1 if value is right else -1)
    low_end, high_end = limits_of(value)
    if operation == "lte" and number == (low_end if value is left else high_end):
        operation = "eq"
    elif operation == "neq" and number == low_end:
        return "lte", store.make("number", str(number + 1)), value
    elif operation == "neq" and number == high_end:
        return "lte", value, store.make("number", str(number - 1))
    made = store.make("number", str(number))
    return (operation, made, value) if value is right else (operation, value, made)


def limits_of(value: Formula) -> tuple[int | None, int | None]:
    """The least and the greatest number that a value may be, where its kind tells."""
    if value.op == "extract" and is_point_in_time(formulas_of(value)[0]):
        known = _LIMITS | _WEEK_LIMITS if value.store.dialect == "duckdb" else _LIMITS
        return known.get(str(value.args[0]), (None, None))
    return (0, None) if is_count(value) else (None, None)


def is_whole(value: Formula) -> bool:
    """Whether a value is a whole number, or NULL."""
    if is_count(value) or value.op == "datediff" or is_whole_type(type_of(value)):
        return True
    if value.op == "call":
        return value.args[0] in ("date_sub", "datesub") and value.store.dialect == "duckdb"
    return value.op == "extract" and value.args[0] in _WHOLE_PARTS


def is_count(value: Formula) -> bool:
    """Whether a value is a number of rows or characters, or the place of one."""
    if value.op == "of" and isinstance(value.args[1], Formula):
        return is_count(value.args[1])
    if value.op == "coalesce":
        parts = formulas_of(value)
        return is_count(parts[0]) and all((integer_of(one) or 0) >= 0 and one.op == "number" for one in parts[1:])
    if value.op == "aggregate" and value.args[0] == "over" and isinstance(value.args[1], Formula):
        return is_count(value.args[1])
    if value.op == "cast" and isinstance(value.args[0], Formula) and is_whole_type(type_of(value)):
        return is_count(value.args[0])
    return value.op in ("length", "strposition") or (value.op in ("aggregate", "window") and value.args[0] in _COUNTS)
