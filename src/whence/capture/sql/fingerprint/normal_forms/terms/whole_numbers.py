"""Values that are whole numbers, and bounds of them."""

from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_whole_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_COUNTS: Final = ("count", "rownumber", "rank", "denserank", "ntile")
_WHOLE_PARTS: Final = ("year", "quarter", "month", "day", "hour", "minute", "dayofweek", "dayofyear")


def whole_bound(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
    """`2 <= count(*)` for `1 < count(*)`, since counts are whole numbers, `0 = count(*)` for `count(*) < 1`."""
    low, high = integer_of(left), integer_of(right)
    value, number = (right, low) if high is None else (left, high)
    if number is None or not is_whole(value):
        return operation, left, right
    if operation == "lt":
        operation, number = "lte", number + (1 if value is right else -1)
    if is_count(value) and (operation, number) == ("lte", 0) and value is left:
        return "eq", store.make("number", "0"), value
    if is_count(value) and (operation, number) == ("neq", 0):
        return "lte", store.make("number", "1"), value
    made = store.make("number", str(number))
    return (operation, made, value) if value is right else (operation, value, made)


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
