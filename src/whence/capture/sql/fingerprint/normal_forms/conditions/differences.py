"""Comparisons of differences as comparisons of what is subtracted with what it is subtracted from."""

from datetime import timedelta
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of, is_day, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import (
    formulas_of,
    integer_of,
    is_exact_fraction,
    is_literal,
)
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

"""Dialects whose numbers with a fraction are decimals."""
SECONDS: Final = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
Sides = tuple[str, Formula, Formula]


def without_difference(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """`a <= b + 1` for `a - b <= 1`, where numbers have no rounding; `b < a - 1 hour` for `a - b > 1 hour` of times."""
    for value, other in ((left, right), (right, left)):
        pair = _difference(store, value)
        if pair is None:
            continue
        moved = _moved_difference(store, *pair, other)
        if moved is not None:
            return (operation, *moved) if value is left else (operation, moved[1], moved[0])
    return operation, left, right


def _moved_difference(
    store: Formulas, first: Formula, second: Formula, other: Formula
) -> tuple[Formula, Formula] | None:
    """The two values whose comparison is that of `first - second` with another value."""
    pair, number = (first, second), integer_of(other)
    if number is not None and any(map(date_of, pair)):
        return _moved_from_date(store, first, second, number)
    if any(map(is_literal, pair)):
        return None
    if number is not None and all(map(has_no_rounding, pair)):
        return first, store.make("add", second, other) if number else second
    if is_exact_fraction(other) and all(map(_may_have_fraction, pair)):
        text = str(other.args[0])
        if text.startswith("-"):
            return store.make("add", first, store.make("number", text[1:])), second
        return first, store.make("add", second, other)
    if other.op == "interval" and seconds_of(other) is not None and all(type_of(one) == "timestamp" for one in pair):
        return first, store.make("date_plus", second, other)
    return None


def _moved_from_date(store: Formulas, first: Formula, second: Formula, days: int) -> tuple[Formula, Formula] | None:
    """`d >= DATE '2024-01-01'` for `DATE '2024-01-31' - d <= 30`: the literal that is so many days away."""
    left, right = date_of(first), date_of(second)
    try:
        if left is not None and right is None and is_day(second):
            return make_date(store, left - timedelta(days=days)), second
        if right is not None and left is None and is_day(first):
            return first, make_date(store, right + timedelta(days=days))
    except OverflowError:
        return None
    return None


def _may_have_fraction(value: Formula) -> bool:
    """Whether a sum with a fraction has no rounding: a HUGEINT becomes a floating-point number in it."""
    return is_exact_type(type_of(value)) and type_of(value) != "hugeint"


def _difference(store: Formulas, value: Formula) -> tuple[Formula, Formula] | None:
    """The values of which one is subtracted from the other; of a longer sum, what is added and what is subtracted."""
    parts = formulas_of(value)
    if value.op == "datediff" and value.args[0] == "day":
        return parts[1], parts[0]
    if value.op != "add":
        return None
    negative = [formulas_of(part)[0] for part in parts if part.op == "neg"]
    positive = [part for part in parts if part.op != "neg"]
    if not negative or not positive:
        return None
    first, second = (one[0] if len(one) == 1 else store.make("add", *one) for one in (positive, negative))
    return first, second


def has_no_rounding(value: Formula) -> bool:
    return is_exact_type(type_of(value)) or is_day(value)


def seconds_of(interval: Formula) -> int | None:
    match interval.args:
        case (int() as amount, str() as unit) if unit in SECONDS:
            return amount * SECONDS[unit]
    return None
