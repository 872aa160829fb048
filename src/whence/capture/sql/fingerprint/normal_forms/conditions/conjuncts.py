"""The conditions of a filter as a set: without those that another one implies."""

from collections.abc import Sequence
from functools import partial
from operator import le, lt
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import bounds_of, conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.conditions.filters import as_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, compare
from whence.capture.sql.fingerprint.normal_forms.conditions.months import with_whole_months
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null_with, null_sources, null_tested
from whence.capture.sql.provenance.formulas import Formula, Formulas

_NUMBERINGS: Final = ("rownumber", "rank", "denserank")
_SEARCHES: Final = frozenset({"startswith", "endswith", "contains"})
STRICT_CONDITIONS: Final = COMPARISONS | _SEARCHES | {"like", "ilike"}
"""Conditions that are NULL if any argument is NULL."""


def normalize_filter(store: Formulas, conditions: Sequence[Formula]) -> list[Formula]:
    """The conjuncts of a filter in their normal form."""
    true, false = (store.make("boolean", text) for text in ("true", "false"))
    conjuncts = (part for one in conditions for part in conjuncts_of(as_filter(store, one)))
    found = [one for part in dict.fromkeys(conjuncts) if (one := _first_row(store, part)) is not true]
    if false in found:
        return [false]
    found = with_whole_months(store, found, partial(compare, store))
    found = [_without_null(store, one, found) for one in found]
    known = set(found)
    equal = {one: store.make("eq", *one.args) for one in found if one.op == "lte" and _turned(store, one) in known}
    found = list(dict.fromkeys(equal.get(one, one) for one in found))
    fixed = {pair[0]: pair[1] for one in found if one.op == "eq" and (pair := _fixed(one)) is not None}
    found = [one for one in found if not _is_implied(one, fixed)]
    return [one for one in found if not any(implies(other, one) for other in found if other is not one)]


def _without_null(store: Formulas, condition: Formula, all_conditions: Sequence[Formula]) -> Formula:
    """`a = b` for `a IS NOT DISTINCT FROM b`, where another condition wants one of them not to be NULL."""
    if condition.op != "nullsafeeq":
        return condition
    pair = formulas_of(formulas_of(condition)[0])
    others = [one for one in all_conditions if one is not condition]
    return store.make("eq", *pair) if len(pair) == 2 and any(is_known(others, one) for one in pair) else condition


def rejects_null(condition: Formula, value: Formula) -> bool:
    """Whether a condition is not true where a value is NULL."""
    sources = null_sources(value)
    if sources != (value,):
        return bool(sources) and all(rejects_null(condition, one) for one in sources)
    parts = formulas_of(condition)
    if value is condition or (condition.op == "not" and value is parts[0]):
        return True
    if condition.op in STRICT_CONDITIONS:
        return any(is_null_with(part, value) for part in parts)
    if condition.op in ("and", "or"):
        return (any if condition.op == "and" else all)(rejects_null(part, value) for part in parts)
    if condition.op == "exists":
        return any(rejects_null(part, value) for part in _conditions_inside(condition))
    if condition.op != "not":
        return False
    is_strict = parts[0].op in STRICT_CONDITIONS
    return null_tested(parts[0]) is value or (is_strict and rejects_null(parts[0], value))


def _conditions_inside(exists: Formula) -> list[Formula]:
    """The conditions that each row has that EXISTS looks for."""
    rows = formulas_of(exists)[0]
    return formulas_of(formulas_of(rows)[1]) if rows.op == "block" else []


def is_known(conditions: Sequence[Formula], value: Formula) -> bool:
    """Whether a value is not NULL in any row for which the conditions are true."""
    return all(any(rejects_null(one, source) for one in conditions) for source in null_sources(value))


def _turned(store: Formulas, comparison: Formula) -> Formula:
    return store.make(comparison.op, *reversed(comparison.args))


def _first_row(store: Formulas, condition: Formula) -> Formula:
    """`row_number() <= 1` and `< 2` as `= 1`: row numbers and ranks begin with 1. `< 3` is `<= 2`: they are whole, and
    `<> 1` is `>= 2`.
    """
    if condition.op == "neq":
        return _later_row(store, condition)
    if condition.op not in ("lt", "lte"):
        return condition
    value, number = condition.args
    window = value.args[1] if isinstance(value, Formula) and value.op == "of" else value
    is_row_number = isinstance(window, Formula) and is_numbering(window)
    last = integer_of(number)
    if not is_row_number or last is None:
        return condition
    last -= condition.op == "lt"
    return store.make("eq" if last == 1 else "lte", value, store.make("number", str(last)))


def _later_row(store: Formulas, condition: Formula) -> Formula:
    """`row_number() >= 2` for `<> 1`."""
    for value, number in (condition.parts, condition.parts[::-1]):
        if is_numbering(value.parts[1] if value.op == "of" else value) and integer_of(number) == 1:
            return store.make("lte", store.make("number", "2"), value)
    return condition


def is_numbering(window: Formula) -> bool:
    """Whether a value is the number or the rank of a row, which begin with 1."""
    return window.op == "window" and window.args[0] in _NUMBERINGS


def _fixed(equality: Formula) -> tuple[Formula, int] | None:
    """A value and the number that it is."""
    for value, number in (equality.args, reversed(equality.args)):
        if isinstance(value, Formula) and (found := integer_of(number)) is not None and value.op != "number":
            return value, found
    return None


def _is_implied(condition: Formula, fixed: dict[Formula, int]) -> bool:
    """Whether a comparison with a number is true for the number that its value is."""
    if condition.op not in ("lt", "lte"):
        return False
    low, high = (
        fixed.get(arg) if isinstance(arg, Formula) and arg in fixed else integer_of(arg) for arg in condition.args
    )
    if low is None or high is None or not any(arg in fixed for arg in condition.args):
        return False
    return bool((lt if condition.op == "lt" else le)(low, high))


def _is_filled(condition: Formula, text: Formula) -> bool:
    """Whether a condition holds for texts alone that are not empty, as one on its letters does."""
    parts = formulas_of(condition)
    if condition.op in ("and", "or"):
        return (any if condition.op == "and" else all)(_is_filled(part, text) for part in parts)
    pairs = _pairs(condition) if condition.op == "eq" else [(parts[1], parts[0])] if condition.op in _SEARCHES else []
    return any(one.op == "string" and not _is_empty(one) and _is_part_of(other, text) for one, other in pairs)


def _is_empty(value: Formula) -> bool:
    return value.op == "string" and not value.args[0]


def _pairs(comparison: Formula) -> list[tuple[Formula, Formula]]:
    """The two sides of a comparison, each beside the other one."""
    left, right = formulas_of(comparison)
    return [(left, right), (right, left)]


def _is_part_of(value: Formula, text: Formula) -> bool:
    """Whether a value is a text, also in other letters or without blanks around."""
    parts = formulas_of(value)
    is_changed = value.op in ("lower", "upper", "trim") and len(parts) == 1
    return value is text or (is_changed and _is_part_of(parts[0], text))


def implies(condition: Formula, other: Formula) -> bool:
    """Whether another condition holds wherever a condition does: a wider bound, or that a value is not NULL."""
    tested = null_tested(formulas_of(other)[0]) if other.op == "not" else None
    if tested is not None:
        return rejects_null(condition, tested)
    if other.op == "neq" and any(_is_empty(one) and _is_filled(condition, text) for one, text in _pairs(other)):
        return True
    if (condition.op == "lt" and other.op in ("neq", "lte")) or (condition.op, other.op) == ("eq", "lte"):
        is_same = set(condition.args) == set(other.args)
        return is_same and (other.op == "neq" or condition.op == "eq" or condition.args == other.args)
    bounds = {bound[:3]: bound.tightness for bound in bounds_of(condition)}
    return any(bounds.get(bound[:3], bound.tightness) > bound.tightness for bound in bounds_of(other))
