"""AND, OR, NOT and comparisons in a normal form that holds for true, false and NULL."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import eq, le, lt, ne
from typing import Any, Final

from whence.capture.sql.fingerprint.normal_forms.conditions.months import day_test, truncated_sides, with_whole_months
from whence.capture.sql.fingerprint.normal_forms.conditions.ranges import with_ranges
from whence.capture.sql.fingerprint.normal_forms.conditions.sides import normal_sides
from whence.capture.sql.fingerprint.normal_forms.terms.days import (
    compared_days,
    date_of,
    day_bound,
    day_of_time,
    with_day,
)
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import EXACT_TEXTS, is_boolean, is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import whole_bound
from whence.capture.sql.provenance.formulas import Formula, Formulas

_SWAPPED: Final = {"gt": "lt", "gte": "lte"}
_NEGATED: Final = {"eq": "neq", "neq": "eq", "lt": "gte", "lte": "gt", "gt": "lte", "gte": "lt"}
_OPPOSITES: Final = {"nullsafeeq": "nullsafeneq", "nullsafeneq": "nullsafeeq"}
_COMPUTED: Final[dict[str, Callable[[Any, Any], Any]]] = {"eq": eq, "neq": ne, "lt": lt, "lte": le}
COMPARISONS: Final = frozenset(_COMPUTED)
_CONDITIONS: Final = COMPARISONS.union(
    ("and", "or", "not", "is", "boolean", "exists", "nullsafeeq", "nullsafeneq"),
    ("like", "ilike", "startswith", "endswith", "contains"),
)
POSITIVE: Final = re.compile(r"\d{1,9}(\.\d{1,9})?")
"""Numbers without a sign."""


def connect(store: Formulas, op: str, parts: Iterable[Formula]) -> Formula:
    """AND or OR: what all branches of an OR share stands outside of it, and parts that another implies are left out."""
    is_and = op == "and"
    neutral, fixed = (store.make("boolean", str(value).lower()) for value in (is_and, not is_and))
    flat = _operands(store.connect(op, [neutral, *parts]), op)
    kept = [one for one in flat if one is not neutral]
    if not kept or fixed in kept:
        return fixed if kept else neutral
    dual = "or" if is_and else "and"
    sets = [frozenset(_operands(one, dual)) for one in kept]
    kept = [one for one, own in zip(kept, sets, strict=True) if not any(other < own for other in sets)]
    kept = with_ranges(store, op, kept)
    kept = with_whole_months(store, kept, partial(compare, store)) if is_and else kept
    return store.connect(op, kept) if is_and else _factor(store, _with_equal(store, kept))


def _factor(store: Formulas, branches: Sequence[Formula]) -> Formula:
    """`(a AND b) OR (a AND c)` as `a AND (b OR c)`."""
    sets = [dict.fromkeys(_operands(one, "and")) for one in branches]
    common = [one for one in sets[0] if all(one in other for other in sets)]
    if not common or len(branches) == 1:
        return store.connect("or", branches)
    rests = [store.connect("and", [one for one in own if one not in common]) for own in sets]
    return store.connect("and", [*common, connect(store, "or", rests)])


def _with_equal(store: Formulas, branches: Sequence[Formula]) -> list[Formula]:
    """`a < b OR a = b` as `a <= b`."""
    known = set(branches)
    both = {one: store.make("eq", *one.args) for one in branches if one.op == "lt"}
    both = {one: equal for one, equal in both.items() if equal in known}
    gone = set(both.values())
    return [store.make("lte", *one.args) if one in both else one for one in branches if one not in gone]


def _operands(value: Formula, op: str) -> list[Formula]:
    return formulas_of(value) if value.op == op else [value]


def negate(store: Formulas, value: Formula) -> Formula:
    """NOT of a condition: inside of AND, OR and comparisons, which holds for NULLs too."""
    parts = formulas_of(value)
    if value.op in ("and", "or"):
        return connect(store, "or" if value.op == "and" else "and", [negate(store, part) for part in parts])
    if value.op in _NEGATED:
        return compare(store, _NEGATED[value.op], *parts)
    if value.op in _OPPOSITES:
        return store.make(_OPPOSITES[value.op], *value.args)
    if value.op == "boolean":
        return store.make("boolean", "false" if value.args[0] == "true" else "true")
    if value.op == "coalesce" and len(parts) == 2 and parts[1].op == "boolean":
        return store.make("coalesce", *(negate(store, part) for part in parts))
    if value.op == "case" and all(one.op in ("boolean", "null") for one in (*parts[1:-1:2], parts[-1])):
        values = {one: negate(store, one) for one in parts if one.op == "boolean"}
        return store.rebuild(value, lambda part: values.get(part, part))
    return parts[0] if value.op == "not" else store.make("not", value)


def compare(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula:
    """A comparison of two values, written from the smaller to the greater one."""
    if operation in _SWAPPED:
        operation, left, right = _SWAPPED[operation], right, left
    left, right = with_day(store, right, left), with_day(store, left, right)
    operation, left, right = day_bound(store, *whole_bound(store, operation, left, right))
    operation, left, right = compared_days(store, *truncated_sides(store, operation, left, right))
    operation, left, right = truncated_sides(store, *normal_sides(store, operation, left, right))
    if (found := day_test(store, operation, left, right, partial(compare, store))) is not None:
        return found
    operation, left, right = day_of_time(store, operation, left, right)
    if operation in _COMPUTED and (computed := compare_literals(operation, left, right)) is not None:
        return store.make("boolean", str(computed).lower())
    false = store.make("boolean", "false")
    if operation == "eq" and false in (left, right):
        return negate(store, right if left is false else left)
    for rule in (_as_exists, _without_absolute, _of_conditions, _of_extremes, _of_place):
        if (found := rule(store, operation, left, right)) is not None:
            return found
    return store.make(operation, left, right)


def compare_literals(operation: str, left: Formula, right: Formula) -> bool | None:
    """A comparison of two whole numbers or days, or of a text with itself."""
    for read in (integer_of, date_of):
        if (first := read(left)) is not None and (second := read(right)) is not None:
            return bool(_COMPUTED[operation](first, second))
    is_same = left is right and left.op in ("number", "string")
    return operation == "eq" if is_same and operation in ("eq", "neq") else None


def _as_exists(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`(SELECT count(*) …) > 0` as EXISTS."""
    if operation == "eq":
        left, right = (left, right) if left.op == "number" else (right, left)
    number, rows = integer_of(left), _counted(right)
    if rows is None or (operation, number) not in (("lt", 0), ("lte", 1), ("eq", 0)):
        return None
    exists = store.make("exists", rows)
    return store.make("not", exists) if operation == "eq" else exists


def _without_absolute(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`abs(x) <= 2` as `-2 <= x AND x <= 2`, and `2 < abs(x)` as `x < -2 OR 2 < x`, of numbers without rounding."""
    value, bound = (left, right) if left.op == "abs" else (right, left)
    inside = formulas_of(value)[0] if value.op == "abs" else None
    text = str(bound.args[0]) if bound.op == "number" else ""
    if inside is None or not is_exact_type(type_of(inside)) or not POSITIVE.fullmatch(text):
        return None
    low = store.make("number", f"-{text}")
    if operation not in ("lt", "lte") or integer_of(bound) == 0:
        return None
    if value is left:
        return connect(store, "and", [compare(store, operation, low, inside), compare(store, operation, inside, bound)])
    return connect(store, "or", [compare(store, operation, inside, low), compare(store, operation, bound, inside)])


def _of_conditions(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`p = q` of two conditions, or of one and a truth, as `p AND q OR NOT p AND NOT q`, which holds for NULL too."""
    pair = (left, right)
    is_truth = all((is_condition(one) or is_boolean(one)) and one.op != "boolean" for one in pair)
    if operation not in ("eq", "neq") or not is_truth or not any(map(is_condition, pair)):
        return None
    other = right if operation == "eq" else negate(store, right)
    both = connect(store, "and", [left, other])
    return connect(store, "or", [both, connect(store, "and", [negate(store, left), negate(store, other)])])


def _of_extremes(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """`a < c AND b < c` for `greatest(a, b) < c`, and OR on the other side, of values that are never NULL."""
    for value, other in ((left, right), (right, left)):
        is_extreme = value.op in ("greatest", "least") and len(value.args) == 1 and value.parts[0].op == "set"
        if not is_extreme or operation not in ("lt", "lte"):
            continue
        pairs = [(one, other) if value is left else (other, one) for one in formulas_of(value.parts[0])]
        connector = "and" if (value.op == "greatest") is (value is left) else "or"
        return connect(store, connector, [compare(store, operation, *pair) for pair in pairs])
    return None


def _of_place(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    """A search for `position('a' IN x) >= 1`."""
    for value, number in ((left, right), (right, left)):
        if value.op != "strposition" or value.args[::2] != ("substr", "this") or store.dialect not in EXACT_TEXTS:
            continue
        text, inside = value.parts
        test = operation, integer_of(number), value is right
        if text.op == "string" and text.args[0] and test in (("lte", 1, True), ("eq", 0, False), ("eq", 0, True)):
            found = store.make("contains", inside, text)
            return negate(store, found) if operation == "eq" else found
    return None


def _counted(value: Formula) -> Formula | None:
    """The rows whose number a value is."""
    if value.op != "scalar" or len(value.args) != 2:
        return None
    rows, count = formulas_of(value)
    is_count = count is value.store.make("aggregate", "count", value.store.make("star"))
    is_total = rows.op == "group" and rows.args[1] == "all rows"
    return formulas_of(rows)[0] if is_count and is_total else None


def is_condition(value: Formula) -> bool:
    """Whether a value is true, false or NULL."""
    parts = formulas_of(value)
    if value.op == "case":
        values = [part for part in (*parts[1:-1:2], parts[-1]) if part.op != "null"]
        return bool(values) and all(map(is_condition, values))
    if value.op == "coalesce":
        return all(map(is_condition, parts))
    return value.op in _CONDITIONS
