"""The least and the greatest of values of a function that keeps the order of its arguments.

If `a <= b` implies `f(a) <= f(b)`, and f is NULL for NULL alone, `max(f(x))` is `f(max(x))`: the greatest x that is not
NULL has the greatest value, whether there are several or none. The day of a time, its year, what is left of it when it
is cut off, a time some hours or days later, and a number that is rounded, to which one is added or which is multiplied
by a positive one are such functions. A month later is none: the last days of a month have one day after it.
"""

import re
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.differences import has_no_rounding, seconds_of
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import OVERFLOWING, is_exact_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_MOMENTS: Final = frozenset({"date", "timestamp"})
_POSITIVE: Final = re.compile(r"(?=.*[1-9])\d+(\.\d+)?")
_OTHER: Final = {"min": "max", "max": "min"}
_DIGITS: Final = re.compile(r"\d+")


def extreme_inside(store: Formulas, aggregate: Formula) -> Formula:
    """`min` and `max` inside of functions that keep the order; any other aggregate as it is."""
    match aggregate.args:
        case ("min" | "max" as name, "this", Formula() as value) if (inside := _argument(value)) is not None:
            extreme = extreme_inside(store, store.make("aggregate", name, "this", inside))
            return store.rebuild(value, lambda part: extreme if part is inside else part)
        case ("min" | "max" as name, "this", Formula() as value) if (inside := _turned_argument(value)) is not None:
            extreme = extreme_inside(store, store.make("aggregate", _OTHER[name], "this", inside))
            return store.rebuild(value, lambda part: extreme if part is inside else part)
    return aggregate


def _turned_argument(value: Formula) -> Formula | None:
    """The argument of a function that turns its order: the days from one to a literal day, a negative number."""
    match (value.op, *value.args):
        case ("datediff", "day", Formula() as first, Formula() as last) if date_of(last) is not None:
            return first
        case ("neg", Formula() as inside) if is_exact_type(type_of(inside)) and value.store.dialect not in OVERFLOWING:
            return inside
    return None


def _argument(value: Formula) -> Formula | None:
    """The argument of a function that keeps its order; None for any other value."""
    parts = formulas_of(value)
    match value.op:
        case "cast":
            is_day = type_of(value) == "date" and type_of(parts[0]) in _MOMENTS
            return parts[0] if is_day else None
        case "date_trunc":
            return parts[0] if type_of(parts[0]) in _MOMENTS else None
        case "extract":
            return parts[0] if value.args[0] == "year" and type_of(parts[0]) in _MOMENTS else None
        case "mul":
            numbers = [one for one in parts if one.op == "number" and _POSITIVE.fullmatch(str(one.args[0]))]
            rest = [one for one in parts if one not in numbers]
            return rest[0] if len(parts) == 2 and len(rest) == 1 and is_exact_type(type_of(rest[0])) else None
        case "date_plus":
            is_fixed = len(parts) == 2 and parts[1].op == "interval" and seconds_of(parts[1]) is not None
            return parts[0] if is_fixed and type_of(parts[0]) in _MOMENTS else None
        case "add":
            rest = [one for one in parts if integer_of(one) is None]
            is_sure = value.store.dialect not in OVERFLOWING and len(rest) == 1
            return rest[0] if is_sure and has_no_rounding(rest[0]) else None
        case "datediff" if value.args[0] == "day" and date_of(parts[0]) is not None:
            return parts[1]
        case "round":
            digits = [one for one in parts if one.op == "number" and _DIGITS.fullmatch(str(one.args[0]))]
            rest = [one for one in parts if one not in digits]
            is_exact = len(rest) == 1 and (is_exact_type(type_of(rest[0])) or _is_exact_product(rest[0]))
            return rest[0] if is_exact and len(parts) <= 2 else None
    return None


def _is_exact_product(value: Formula) -> bool:
    """Whether a value is a number without rounding times a positive one: floating-point zeros have a sign."""
    return value.op == "mul" and _argument(value) is not None
