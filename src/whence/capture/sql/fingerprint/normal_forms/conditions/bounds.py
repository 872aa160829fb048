"""What comparisons with literals bound, and which of them exclude each other."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Final, NamedTuple
from unicodedata import normalize

from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, type_of
from whence.capture.sql.provenance.formulas import Formula

_NUMBER: Final = re.compile(r"-?\d{0,7}(\.\d{0,7})?")
"""Numbers of so few digits are different numbers in every type."""


class Bound(NamedTuple):
    """What a comparison with a literal bounds. The greater of two pairs of `tightness` is the tighter bound."""

    value: Formula
    is_below: bool
    is_day: bool
    tightness: tuple[Decimal, bool]


def bounds_of(condition: Formula) -> Iterator[Bound]:
    """The bound that a comparison of a value with a number or a day is."""
    if condition.op not in ("lt", "lte"):
        return
    low, high = formulas_of(condition)
    first, last = _point(low), _point(high)
    is_strict = condition.op == "lt"
    if first is not None and last is None:
        yield Bound(high, True, first[0], (first[1], is_strict))
    elif last is not None and first is None:
        yield Bound(low, False, last[0], (-last[1], is_strict))


def _point(literal: Formula) -> tuple[bool, Decimal] | None:
    """A literal as a number, and whether it is a day."""
    if (number := number_of(literal)) is not None:
        return False, number
    day = date_of(literal)
    return (True, Decimal(day.toordinal())) if day is not None else None


def number_of(literal: Formula) -> Decimal | None:
    """A literal of few digits as a number: different ones are different in every type."""
    text = str(literal.args[0]) if literal.op == "number" else ""
    return Decimal(text) if text and text not in ("-", ".") and _NUMBER.fullmatch(text) else None


def conjuncts_of(condition: Formula) -> list[Formula]:
    return formulas_of(condition) if condition.op == "and" else [condition]


def excludes(one: Formula, other: Formula) -> bool:
    """Whether two conditions are never true together: one value is compared with different literals, or two values
    are smaller, greater or equal.
    """
    return any(_contradicts(*pair) for pair in product(conjuncts_of(one), conjuncts_of(other)))


def _contradicts(one: Formula, other: Formula) -> bool:
    if one.op == "or" or other.op == "or":
        alternatives = (formulas_of(part) if part.op == "or" else [part] for part in (one, other))
        return all(excludes(*pair) for pair in product(*alternatives))
    if _is_opposite(one, other) or _is_opposite(other, one) or _begin_apart(one, other):
        return True
    first, second = _compared(one), _compared(other)
    if first is not None and second is not None:
        return first[0] is second[0] and type(first[1]) is type(second[1]) and first[1] != second[1]
    if _is_apart(one, other) or _is_outside(first, other) or _is_outside(second, one):
        return True
    if {one.op, other.op} == {"lt"}:
        return one.args == other.args[::-1]
    if {one.op, other.op} == {"lt", "lte"}:
        return one.args == other.args[::-1]
    return {one.op, other.op} == {"lt", "eq"} and set(one.args) == set(other.args)


def _is_opposite(one: Formula, other: Formula) -> bool:
    return one.op == "not" and one.args[0] is other


def _begin_apart(one: Formula, other: Formula) -> bool:
    """Whether one value begins with two texts that differ in a letter, or with one and is another."""
    sides = (_beginning(one), _beginning(other)) if "startswith" in (one.op, other.op) else (None, None)
    match sides:
        case ((value, first, is_first_whole), (same, second, is_second_whole)) if value is same:
            length = min(len(first), len(second))
            is_cut = (is_first_whole and len(first) < len(second)) or (is_second_whole and len(second) < len(first))
            return is_cut or first[:length] != second[:length]
    return False


def _beginning(condition: Formula) -> tuple[Formula, str, bool] | None:
    """The value that begins with an ASCII text, in small letters, and whether it is all of it."""
    if condition.op not in ("startswith", "eq"):
        return None
    first, second = formulas_of(condition)
    value, literal = (second, first) if condition.op == "eq" and first.op == "string" else (first, second)
    text = str(literal.args[0]) if literal.op == "string" else ""
    return (value, text.lower(), condition.op == "eq") if text.strip() == text != "" and text.isascii() else None


def _is_apart(one: Formula, other: Formula) -> bool:
    """Whether two bounds of one value leave nothing between them."""
    for first, second in product(bounds_of(one), bounds_of(other)):
        if first.value is second.value and first.is_day is second.is_day and first.is_below is not second.is_below:
            low, high = (first, second) if first.is_below else (second, first)
            distance = -high.tightness[0] - low.tightness[0]
            if distance < 0 or (distance == 0 and (low.tightness[1] or high.tightness[1])):
                return True
    return False


def _is_outside(compared: "tuple[Formula, int | str] | None", other: Formula) -> bool:
    """Whether the whole number that a value is lies outside of a bound of it."""
    if compared is None or not isinstance(compared[1], int):
        return False
    point = Decimal(compared[1])
    for bound in bounds_of(other):
        own = point if bound.is_below else -point
        if bound.value is compared[0] and not bound.is_day and (own, False) < bound.tightness:
            return True
    return False


def _compared(condition: Formula) -> tuple[Formula, int | str] | None:
    if condition.op != "eq":
        return None
    first, second = formulas_of(condition)
    for value, literal in ((first, second), (second, first)):
        if value.op not in ("number", "string") and (found := _distinct_literal(literal, value)) is not None:
            return value, found
    return None


def _distinct_literal(literal: Formula, value: Formula) -> int | str | None:
    """A whole number, or a text of letters and digits without case: different ones are equal in no collation.

    So is any text beside a value that is one, in a dialect that compares character by character: without blanks at its
    end, which types of a fixed length add.
    """
    text = str(literal.args[0]) if literal.op == "string" else ""
    if text and literal.store.dialect in EXACT_TEXTS and type_of(value) == "text":
        return normalize("NFKD", text).casefold().rstrip()
    is_number = text.isdigit() and text[0] != "0"
    is_plain = text.isascii() and text.isalnum() and (text[0].isalpha() or is_number)
    return text.lower() if is_plain else integer_of(literal)
