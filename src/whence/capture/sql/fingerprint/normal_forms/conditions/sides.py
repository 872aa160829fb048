"""Comparisons whose sides are written in several ways: literals on one side, differences, texts without case."""

from datetime import timedelta
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.differences import (
    SECONDS,
    Sides,
    has_no_rounding,
    seconds_of,
    without_difference,
)
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of, first_moment, is_day, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.types import (
    EXACT_TEXTS,
    is_exact_type,
    is_whole_type,
    is_wider_whole,
    type_of,
)
from whence.capture.sql.provenance.formulas import Formula, Formulas

_TWO_CASES: Final = frozenset("iks")
"""Letters that letters of other alphabets become in one of LOWER and UPPER."""


def normal_sides(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """A comparison `eq`, `neq`, `lt` or `lte` in the normal form of its sides."""
    left, right = _without_width(left, right), _without_width(right, left)
    operation, left, right = _shifted_literal(store, operation, left, right) or (operation, left, right)
    operation, left, right = _without_sign(store, *without_difference(store, operation, left, right))
    for shift in (_shifted_numbers, _shifted_times, _shifted_months):
        if (found := shift(store, operation, left, right)) is not None:
            return found
    return _of_texts(store, operation, left, right)


def _without_width(value: Formula, other: Formula) -> Formula:
    """A whole number without a cast to a wider type, beside a whole literal; so a literal beside exact numbers."""
    inside = value.parts[0] if value.op == "cast" else value
    if integer_of(inside) is not None and is_exact_type(type_of(value)) and is_exact_type(type_of(other)):
        return inside
    return inside if integer_of(other) is not None and is_wider_whole(type_of(value), type_of(inside)) else value


def _without_sign(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """`0 < a` for `sign(a) = 1`, of numbers that are positive, zero or negative."""
    for value, other in ((left, right), (right, left)):
        parts = formulas_of(value) if value.op == "sign" and operation == "eq" else []
        sign = integer_of(other)
        if len(parts) == 1 and sign in (-1, 0, 1) and is_exact_type(type_of(parts[0])):
            zero = store.make("number", "0")
            order = (zero, parts[0]) if sign == 1 else (parts[0], zero)
            return without_difference(store, "lt" if sign else "eq", *order)
    return operation, left, right


def _shifted_numbers(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides | None:
    """`a <= b + 1` for `a - 1 <= b` and `a < b + 2`, of whole numbers or days."""
    if is_literal(left) or is_literal(right):
        return _shifted_literal(store, operation, left, right)
    (first, low), (second, high) = _split_number(store, left), _split_number(store, right)
    is_exact = all(map(has_no_rounding, (first, second))) and _is_days(first) == _is_days(second)
    if (low, high) == (0, 0) or not is_exact or is_literal(first) or is_literal(second):
        return None
    total = high - low
    if all(map(_is_whole, (first, second))):
        if operation == "lt" and total:
            operation, total = "lte", total - 1
        if operation == "lte" and total == -1:
            operation, total = "lt", 0
    return operation, _plus(store, first, -total), _plus(store, second, total)


def _shifted_literal(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides | None:
    """`a < 2` for `a + 1 < 3`, of numbers without rounding or of days."""
    for value, other in ((left, right), (right, left)):
        first, moved = _split_number(store, value)
        shifted = _shifted(store, type_of(value), other, -moved) if moved and not is_literal(first) else None
        if shifted is not None and has_no_rounding(first):
            return (operation, first, shifted) if value is left else (operation, shifted, first)
    return None


def _shifted(store: Formulas, kind: str, literal: Formula, number: int) -> Formula | None:
    """A literal number or day with a number added; None for other literals."""
    if (bound := integer_of(literal)) is not None and is_exact_type(kind):
        return store.make("number", str(bound + number))
    day = date_of(literal) if kind == "date" else None
    try:
        return None if day is None else make_date(store, day + timedelta(days=number))
    except OverflowError:
        return None


def _is_days(value: Formula) -> bool:
    return is_day(value)


def _is_whole(value: Formula) -> bool:
    return is_whole_type(type_of(value)) or is_day(value)


def _split_number(store: Formulas, value: Formula) -> tuple[Formula, int]:
    """A sum without its number, and the number."""
    parts = formulas_of(value) if value.op == "add" else []
    numbers = [part for part in parts if integer_of(part) is not None]
    others = [part for part in parts if integer_of(part) is None]
    if len(numbers) != 1 or not others:
        return value, 0
    return others[0] if len(others) == 1 else store.make("add", *others), integer_of(numbers[0]) or 0


def without_step(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """`a + 1 < b` for `a + 2 <= b` of whole numbers or days, as the opposite of `b <= a + 1`."""
    first, number = _split_number(store, left)
    if operation != "lte" or number <= 1 or not all(map(_is_whole, (first, right))):
        return operation, left, right
    return "lt", _plus(store, first, number - 1), right


def _plus(store: Formulas, value: Formula, number: int) -> Formula:
    return store.make("add", value, store.make("number", str(number))) if number > 0 else value


def _shifted_times(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides | None:
    """`a < b + 1 hour` for `a - 1 hour < b`, of times without a time zone."""
    (first, low), (second, high) = _split_interval(left), _split_interval(right)
    kinds = {type_of(one) for one in (first, second)}
    if (low, high) == (0, 0) or low is None or high is None or not kinds <= {"timestamp", "date"}:
        return None
    if is_literal(first) or is_literal(second):
        return None
    total = high - low
    return operation, _later(store, first, -total), _later(store, second, total)


def _split_interval(value: Formula) -> tuple[Formula, int | None]:
    parts = formulas_of(value)
    if value.op != "date_plus":
        return value, 0
    return (parts[0], seconds_of(parts[1])) if len(parts) == 2 else (value, None)


def interval_of(store: Formulas, seconds: int) -> Formula:
    """An interval of so many seconds, in the greatest unit that divides them."""
    unit = next(name for name, length in SECONDS.items() if seconds % length == 0)
    return store.make("interval", seconds // SECONDS[unit], unit)


def whole_interval(store: Formulas, value: Formula, interval: Formula) -> Formula:
    """An interval that is added to a time without a zone, for which a day has 24 hours."""
    seconds = seconds_of(interval)
    return interval if seconds is None or type_of(value) != "timestamp" else interval_of(store, seconds)


def _later(store: Formulas, value: Formula, seconds: int) -> Formula:
    return store.make("date_plus", value, interval_of(store, seconds)) if seconds > 0 else value


def _shifted_months(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides | None:
    """`a = b + 1 month` for `a - 1 month = b`, of first days of months."""
    (first, low), (second, high) = _split_months(left), _split_months(right)
    if (low, high) == (0, 0) or not all(map(is_month, (first, second))):
        return None
    total = high - low
    moved = [
        store.make("date_plus", one, store.make("interval", amount, "month")) if amount > 0 else one
        for one, amount in ((first, -total), (second, total))
    ]
    return operation, moved[0], moved[1]


def _split_months(value: Formula) -> tuple[Formula, int]:
    match (value.op, *value.args):
        case ("date_plus", Formula() as inside, Formula(op="interval", args=(int() as amount, "month"))):
            return inside, amount
    return value, 0


def is_month(value: Formula) -> bool:
    """Whether a value is the first day of a month, or NULL."""
    parts = formulas_of(value)
    if value.op == "cast":
        return is_day(value) and is_month(parts[0])
    if value.op == "of":
        return is_month(parts[1])
    return value.op == "date_trunc" and value.args[0] in ("month", "quarter", "year")


def without_shift(value: Formula) -> Formula:
    """The value that a constant is added to, where different values give different sums; a month for its first day."""
    return first_moment(_without_constant(value))


def _without_constant(value: Formula) -> Formula:
    parts = formulas_of(value)
    if value.op == "date_plus" and len(parts) == 2 and parts[1].op == "interval":
        is_fixed = seconds_of(parts[1]) is not None or is_month(parts[0])
        return parts[0] if is_fixed and type_of(parts[0]) in ("date", "timestamp") else value
    first, number = _split_number(value.store, value)
    return first if number and (is_whole_type(type_of(first)) or is_day(first)) else value


def _of_texts(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    if store.dialect not in EXACT_TEXTS:
        return operation, left, right
    for value, other in ((left, right), (right, left)):
        parts = formulas_of(value)
        if value.op == "length" and len(parts) == 1 and type_of(parts[0]) == "text":
            test = (operation, integer_of(other), value is right)
            if test in (("lte", 1, True), ("eq", 0, True), ("eq", 0, False)):
                named = "eq" if operation == "eq" else "neq"
                return _of_texts(store, named, store.make("string", ""), parts[0])
        if operation in ("eq", "neq") and (blank := _without_case(store, value, other)) is not None:
            return operation, other, blank
        if operation not in ("eq", "neq") or value.op not in ("lower", "upper") or len(parts) != 1:
            continue
        text = str(other.args[0]) if other.op == "string" else None
        if text == "":
            return operation, other, parts[0]
        if value.op == "upper" and text and text.isascii() and text.isupper() and not _TWO_CASES & set(text.lower()):
            return operation, store.make("string", text.lower()), store.make("lower", "this", parts[0])
    return operation, left, right


def _without_case(store: Formulas, value: Formula, other: Formula) -> Formula | None:
    """The trimmed text whose small or capital letters are compared with the empty text."""
    match value.args:
        case (str() as position, Formula(op="lower" | "upper", args=("this", Formula() as inside))) if (
            value.op == "trim" and other is store.make("string", "")
        ):
            return store.make("trim", position, inside)
    return None
