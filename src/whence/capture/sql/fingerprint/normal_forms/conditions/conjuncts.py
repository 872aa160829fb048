"""The conditions of a filter as a set: without those that another one implies."""

from collections.abc import Iterator, Sequence
from operator import le, lt
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.filters import as_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_tested
from whence.capture.sql.fingerprint.row_identity import change_everywhere
from whence.capture.sql.provenance.formulas import STRICT, Formula, Formulas

_NUMBERINGS: Final = ("rownumber", "rank", "denserank")
STRICT_CONDITIONS: Final = COMPARISONS | {"like", "ilike", "startswith", "contains"}
"""Conditions that are NULL if any argument is NULL."""


def normalize_filter(store: Formulas, conditions: Sequence[Formula]) -> list[Formula]:
    """The conjuncts of a filter in their normal form."""
    true, false = (store.make("boolean", text) for text in ("true", "false"))
    conjuncts = (part for one in conditions for part in _conjuncts(as_filter(store, one)))
    found = [_first_row(store, one) for one in dict.fromkeys(conjuncts) if one is not true]
    if false in found:
        return [false]
    known = set(found)
    equal = {one: store.make("eq", *one.args) for one in found if one.op == "lte" and _turned(store, one) in known}
    found = list(dict.fromkeys(equal.get(one, one) for one in found))
    fixed = {pair[0]: pair[1] for one in found if one.op == "eq" and (pair := _fixed(one)) is not None}
    found = [one for one in found if not _is_implied(one, fixed)]
    return [one for one in found if not any(_implies(other, one) for other in found if other is not one)]


def rejects_null(condition: Formula, value: Formula) -> bool:
    """Whether a condition is not true where a value is NULL."""
    parts = formulas_of(condition)
    if condition.op in STRICT_CONDITIONS:
        return any(_is_null_with(part, value) for part in parts)
    if condition.op in ("and", "or"):
        return (any if condition.op == "and" else all)(rejects_null(part, value) for part in parts)
    if condition.op != "not":
        return False
    is_strict = parts[0].op in STRICT_CONDITIONS
    return null_tested(parts[0]) is value or (is_strict and rejects_null(parts[0], value))


def known_values(store: Formulas, conditions: Sequence[Formula], values: Sequence[Formula]) -> list[Formula]:
    """The values of rows for which the conditions hold, without a default of what is not NULL in them."""

    def simplify(part: Formula) -> Formula:
        if part.op != "coalesce" or not all(map(_is_plain_default, formulas_of(part)[1:])):
            return part
        value = formulas_of(part)[0]
        return value if any(rejects_null(one, value) for one in conditions) else part

    visit = change_everywhere(store, simplify) if conditions else None
    return list(values) if visit is None else [visit(value) for value in values]


def _is_plain_default(value: Formula) -> bool:
    """Whether a default does not decide on the type: a number with a fraction would."""
    return value.op == "string" or integer_of(value) is not None


def _is_null_with(part: Formula, value: Formula) -> bool:
    if part is value:
        return True
    return part.op in STRICT and any(_is_null_with(arg, value) for arg in formulas_of(part))


def _conjuncts(condition: Formula) -> list[Formula]:
    return formulas_of(condition) if condition.op == "and" else [condition]


def _turned(store: Formulas, comparison: Formula) -> Formula:
    return store.make(comparison.op, *reversed(comparison.args))


def _first_row(store: Formulas, condition: Formula) -> Formula:
    """`row_number() <= 1` and `< 2` as `= 1`: row numbers and ranks begin with 1. `< 3` is `<= 2`: they are whole."""
    if condition.op not in ("lt", "lte"):
        return condition
    value, number = condition.args
    window = value.args[1] if isinstance(value, Formula) and value.op == "of" else value
    is_row_number = isinstance(window, Formula) and window.op == "window" and window.args[0] in _NUMBERINGS
    last = integer_of(number)
    if not is_row_number or last is None:
        return condition
    last -= condition.op == "lt"
    return store.make("eq" if last == 1 else "lte", value, store.make("number", str(last)))


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


def _implies(condition: Formula, other: Formula) -> bool:
    """Whether another condition holds wherever a condition does: a wider bound, or that a value is not NULL."""
    tested = null_tested(formulas_of(other)[0]) if other.op == "not" else None
    if tested is not None:
        return rejects_null(condition, tested)
    bounds = {bound[:2]: bound[2:] for bound in _bounds(condition)}
    return any(bounds.get(bound[:2], bound[2:]) > bound[2:] for bound in _bounds(other))


def _bounds(condition: Formula) -> Iterator[tuple[Formula, bool, int, bool]]:
    """What a comparison with a whole number bounds: the value, whether from below, how tightly, whether strictly.

    A greater third and fourth part is the tighter bound.
    """
    if condition.op not in ("lt", "lte"):
        return
    low, high = formulas_of(condition)
    first, last = integer_of(low), integer_of(high)
    if first is not None:
        yield high, True, first, condition.op == "lt"
    elif last is not None:
        yield low, False, -last, condition.op == "lt"
