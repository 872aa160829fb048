"""Conditions that are written in several ways.

A filter keeps the rows for which it is true, so NULL counts as false in it.
"""

import re
from collections.abc import Sequence
from operator import le, lt
from typing import Final

from whence.capture.sql.provenance.formulas import Formula, Formulas

_SWAPPED: Final = {"gt": "lt", "gte": "lte"}
_NEGATED: Final = {"eq": "neq", "neq": "eq", "lt": "gte", "lte": "gt", "gt": "lte", "gte": "lt"}
INTEGER = re.compile(r"-?\d{1,9}")


def negate(store: Formulas, value: Formula) -> Formula:
    """NOT of a condition: inside of AND, OR and comparisons, which holds for NULLs too."""
    parts = [part for part in value.args if isinstance(part, Formula)]
    if value.op in ("and", "or"):
        return store.connect("or" if value.op == "and" else "and", [negate(store, part) for part in parts])
    if value.op in _NEGATED:
        return compare(store, _NEGATED[value.op], *parts)
    return parts[0] if value.op == "not" else store.make("not", value)


def compare(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula:
    """A comparison of two values, written from the smaller to the greater one."""
    if operation in _SWAPPED:
        operation, left, right = _SWAPPED[operation], right, left
    if operation == "eq" and left is right and left.op in ("number", "string"):
        return store.make("boolean", "true")
    return store.make(operation, left, right)


def normalize_filter(store: Formulas, conditions: Sequence[Formula]) -> list[Formula]:
    """The conjuncts of a filter in their normal form."""
    found = [_first_row(store, _null_safe(store, _is_true(condition))) for condition in dict.fromkeys(conditions)]
    known = set(found)
    equal = {one: store.make("eq", *one.args) for one in found if one.op == "lte" and _turned(store, one) in known}
    found = [equal.get(one, one) for one in found]
    fixed = {pair[0]: pair[1] for one in found if one.op == "eq" and (pair := _fixed(one)) is not None}
    return [one for one in dict.fromkeys(found) if not _is_implied(one, fixed)]


def null_tested(condition: Formula) -> Formula | None:
    """The value that IS NULL tests."""
    if condition.op != "is":
        return None
    parts = [arg for arg in condition.args if isinstance(arg, Formula)]
    rest = [part for part in parts if part.op != "null"]
    return rest[0] if len(parts) == 2 and len(rest) == 1 else None


def integer_of(value: object) -> int | None:
    """The number that a formula is, if it is a whole one."""
    if not isinstance(value, Formula) or value.op != "number" or not INTEGER.fullmatch(str(value.args[0])):
        return None
    return int(str(value.args[0]))


def _turned(store: Formulas, comparison: Formula) -> Formula:
    return store.make(comparison.op, *reversed(comparison.args))


def _is_true(condition: Formula) -> Formula:
    """`a = true`."""
    true = condition.store.make("boolean", "true")
    rest = [arg for arg in condition.args if isinstance(arg, Formula) and arg is not true]
    return rest[0] if condition.op == "eq" and len(rest) == 1 and len(condition.args) == 2 else condition


def _null_safe(store: Formulas, condition: Formula) -> Formula:
    """`a = b OR (a IS NULL AND b IS NULL)`, which is NULL instead of false where one of them is NULL."""
    parts = [arg for arg in condition.args if isinstance(arg, Formula)]
    if condition.op != "or" or len(parts) != 2:
        return condition
    for equal, both in (parts, reversed(parts)):
        tested = {null_tested(part) for part in both.args if isinstance(part, Formula)} if both.op == "and" else set()
        if equal.op == "eq" and len(both.args) == 2 and tested == set(equal.args):
            return store.make("nullsafeeq", store.make("bag", *equal.args))
    return condition


def _first_row(store: Formulas, condition: Formula) -> Formula:
    """`row_number() <= 1` and `< 2`: row numbers begin with 1."""
    if condition.op not in ("lt", "lte"):
        return condition
    value, number = condition.args
    is_first = integer_of(number) == (1 if condition.op == "lte" else 2)
    window = value.args[1] if isinstance(value, Formula) and value.op == "of" else value
    is_row_number = isinstance(window, Formula) and window.op == "window" and window.args[0] == "rownumber"
    return store.make("eq", value, store.make("number", "1")) if is_first and is_row_number else condition


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
