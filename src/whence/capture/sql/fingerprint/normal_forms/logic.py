"""Conditions as values: AND, OR, NOT and comparisons in a normal form, and what a filter sees of a condition.

The rules of the first half hold for true, false and NULL. A filter, a CASE and a join keep what is true, so that NULL
counts as false in them: `as_filter` has the rules for those.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from operator import eq, le, lt, ne
from typing import Any, Final

from whence.capture.sql.provenance.formulas import Formula, Formulas

_SWAPPED: Final = {"gt": "lt", "gte": "lte"}
_NEGATED: Final = {"eq": "neq", "neq": "eq", "lt": "gte", "lte": "gt", "gt": "lte", "gte": "lt"}
_OPPOSITES: Final = {"nullsafeeq": "nullsafeneq", "nullsafeneq": "nullsafeeq"}
_COMPUTED: Final[dict[str, Callable[[Any, Any], Any]]] = {"eq": eq, "neq": ne, "lt": lt, "lte": le}
_COUNTS: Final = ("count", "rownumber", "rank", "denserank", "ntile")
_WHOLE_PARTS: Final = ("year", "quarter", "month", "day", "hour", "minute", "dayofweek", "dayofyear")
COMPARISONS: Final = frozenset(_COMPUTED)
INTEGER = re.compile(r"-?\d{1,9}")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")
LITERALS: Final = frozenset({"number", "string", "boolean"})


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
    return parts[0] if value.op == "not" else store.make("not", value)


def compare(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula:
    """A comparison of two values, written from the smaller to the greater one."""
    if operation in _SWAPPED:
        operation, left, right = _SWAPPED[operation], right, left
    left, right = _with_day(store, right, left), _with_day(store, left, right)
    operation, left, right = _day_bound(store, *_whole_bound(store, operation, left, right))
    if operation in _COMPUTED and (computed := _compare_literals(operation, left, right)) is not None:
        return store.make("boolean", str(computed).lower())
    false = store.make("boolean", "false")
    if operation == "eq" and false in (left, right):
        return negate(store, right if left is false else left)
    return _as_exists(store, operation, left, right) or store.make(operation, left, right)


def date_of(value: Formula) -> date | None:
    """The day that a literal date is."""
    if value.op != "cast" or value.args[1] is not value.store.make("type", "date"):
        return None
    inside = value.args[0]
    text = str(inside.args[0]) if isinstance(inside, Formula) and inside.op == "string" else ""
    try:
        return date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None


def make_date(store: Formulas, day: date) -> Formula:
    return store.make("cast", store.make("string", day.isoformat()), store.make("type", "date"))


def is_day(value: Formula) -> bool:
    """Whether a value is a day without a time, or NULL."""
    parts = formulas_of(value)
    if value.op in ("cast", "trycast"):
        return value.args[1] is value.store.make("type", "date")
    if value.op == "of":
        return is_day(parts[1]) or value.store.type_of(value) == "date"
    if value.op == "aggregate":
        return value.args[0] in ("min", "max") and len(parts) == 1 and is_day(parts[0])
    return value.op == "coalesce" and all(map(is_day, parts))


def _with_day(store: Formulas, value: Formula, text: Formula) -> Formula:
    """A text that is compared with a day or a time as what it is."""
    if text.op != "string":
        return text
    is_time = value.op == "of" and store.type_of(value) == "timestamp" and TIME.fullmatch(str(text.args[0]))
    if is_time:
        return store.make(
            "cast", store.make("string", without_midnight(str(text.args[0]))), store.make("type", "timestamp")
        )
    if not is_day(value):
        return text
    made = store.make("cast", text, store.make("type", "date"))
    return made if date_of(made) is not None else text


def without_midnight(text: str) -> str:
    """A time as a text, without the time if it is the first moment of a day."""
    return text[:10] if re.fullmatch(r"[ T]00:00(:00(\.0+)?)?", text[10:]) else text


def _day_bound(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
    """`d <= DATE '2024-01-31'` for `d < DATE '2024-02-01'`, if d is a day."""
    low, high = date_of(left), date_of(right)
    if operation != "lt" or (low is None) == (high is None):
        return operation, left, right
    if high is not None and is_day(left) and high > date.min:
        return "lte", left, make_date(store, high - timedelta(days=1))
    if low is not None and is_day(right) and low < date.max:
        return "lte", make_date(store, low + timedelta(days=1)), right
    return operation, left, right


def _whole_bound(store: Formulas, operation: str, left: Formula, right: Formula) -> tuple[str, Formula, Formula]:
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
    return is_count(value) or value.op == "datediff" or (value.op == "extract" and value.args[0] in _WHOLE_PARTS)


def is_count(value: Formula) -> bool:
    """Whether a value is a number of rows or characters."""
    if value.op == "of" and isinstance(value.args[1], Formula):
        return is_count(value.args[1])
    if value.op == "coalesce":
        parts = formulas_of(value)
        return is_count(parts[0]) and all((integer_of(one) or 0) >= 0 and one.op == "number" for one in parts[1:])
    if value.op == "aggregate" and value.args[0] == "over" and isinstance(value.args[1], Formula):
        return is_count(value.args[1])
    return value.op == "length" or (value.op in ("aggregate", "window") and value.args[0] in _COUNTS)


def null_source(value: Formula) -> Formula:
    """What decides whether a value is NULL."""
    while value.op in ("lower", "upper", "neg") and len(formulas_of(value)) == 1:
        (value,) = formulas_of(value)
    return value


def _compare_literals(operation: str, left: Formula, right: Formula) -> bool | None:
    """A comparison of two whole numbers, or of a text with itself."""
    numbers = integer_of(left), integer_of(right)
    if None not in numbers:
        return bool(_COMPUTED[operation](*numbers))
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


def _counted(value: Formula) -> Formula | None:
    """The rows whose number a value is."""
    if value.op != "scalar" or len(value.args) != 2:
        return None
    rows, count = formulas_of(value)
    is_count = count is value.store.make("aggregate", "count", value.store.make("star"))
    is_total = rows.op == "group" and rows.args[1] == "all rows"
    return formulas_of(rows)[0] if is_count and is_total else None


def is_null(value: Formula) -> Formula:
    """IS NULL."""
    store = value.store
    return store.make("is", "expression", store.make("null"), "this", null_source(value))


def null_tested(condition: Formula) -> Formula | None:
    """The value that IS NULL tests."""
    if condition.op != "is":
        return None
    parts = formulas_of(condition)
    rest = [part for part in parts if part.op != "null"]
    return rest[0] if len(parts) == 2 and len(rest) == 1 else None


def integer_of(value: object) -> int | None:
    """The number that a formula is, if it is a whole one."""
    if not isinstance(value, Formula) or value.op != "number" or not INTEGER.fullmatch(str(value.args[0])):
        return None
    return int(str(value.args[0]))


def is_condition(value: Formula) -> bool:
    """Whether a value is true, false or NULL."""
    parts = formulas_of(value)
    if value.op == "case":
        values = [part for part in (*parts[1:-1:2], parts[-1]) if part.op != "null"]
        return bool(values) and all(map(is_condition, values))
    return value.op in COMPARISONS | {"and", "or", "not", "is", "boolean"}


def formulas_of(value: Formula) -> list[Formula]:
    """The arguments that are formulas."""
    return [arg for arg in value.args if isinstance(arg, Formula)]


def as_filter(store: Formulas, condition: Formula) -> Formula:
    """A condition for whose purpose NULL is false, in the normal form of all that are true for the same rows."""
    parts = formulas_of(condition)
    match condition.op:
        case "and" | "or":
            whole = connect(store, condition.op, [as_filter(store, part) for part in parts])
            return _null_safe(store, whole) if whole.op == "or" else whole
        case "eq" | "neq" | "lt" | "lte":
            return _filter_comparison(store, condition)
        case "is":
            return _filter_test(store, condition)
        case "not":
            return _filter_negation(store, condition)
        case "coalesce" if len(parts) == 2 and parts[1].op == "boolean":
            return _or_missing(store, parts[0], parts[1].args[0] == "true")
        case "case" if [part.args[:1] for part in parts[1:]] == [("true",), ("false",)]:
            return as_filter(store, parts[0])
        case "nullsafeeq" | "nullsafeneq":
            return _filter_null_safe(store, condition)
    return condition


def _or_missing(store: Formulas, value: Formula, is_kept: bool) -> Formula:
    """A condition that is `is_kept` where its value is NULL."""
    found = as_filter(store, value)
    return connect(store, "or", [found, is_null(value)]) if is_kept else found


def _filter_comparison(store: Formulas, condition: Formula) -> Formula:
    left, right = formulas_of(condition)
    booleans = [part for part in (left, right) if part.op == "boolean"]
    if len(booleans) == 1 and condition.op == "eq":
        return as_filter(store, right if booleans[0] is left else left)
    if left.op == right.op == "tuple" and condition.op == "eq":
        return _filter_tuples(store, condition, left, right)
    for one, other in ((left, right), (right, left)):
        if one.op == "coalesce" and len(one.args) == 2 and other.op in LITERALS:
            value, default = formulas_of(one)
            order = (default, other) if one is left else (other, default)
            if (computed := _compare_defaults(condition.op, *order)) is not None:
                order = (value, other) if one is left else (other, value)
                compared = compare(store, condition.op, *order)
                return connect(store, "or", [compared, is_null(value)]) if computed else compared
    return _with_default(store, condition, left, right) or condition


def _with_default(store: Formulas, condition: Formula, left: Formula, right: Formula) -> Formula | None:
    """`x < coalesce(y, 1)` as `x < y OR (y IS NULL AND x < 1)`."""
    for one, other in ((left, right), (right, left)):
        if one.op != "coalesce" or len(one.args) != 2 or other.op == "coalesce" or is_literal(other):
            continue
        value, default = formulas_of(one)
        if is_literal(default):
            compared, instead = (
                compare(store, condition.op, *((side, other) if one is left else (other, side)))
                for side in (value, default)
            )
            missing = connect(store, "and", [is_null(value), instead])
            return connect(store, "or", [as_filter(store, compared), missing])
    return None


def is_literal(value: Formula) -> bool:
    """Whether a value is a literal, perhaps with its type."""
    if value.op == "cast" and isinstance(value.args[0], Formula):
        return value.args[0].op in LITERALS
    return value.op in LITERALS


def _compare_defaults(operation: str, left: Formula, right: Formula) -> bool | None:
    computed = _compare_literals(operation, left, right)
    texts = [str(part.args[0]).lower().strip() for part in (left, right) if part.op == "string"]
    if computed is None and len(texts) == 2 and operation in ("eq", "neq") and texts[0] != texts[1]:
        return operation == "neq"
    return computed


def _filter_tuples(store: Formulas, condition: Formula, left: Formula, right: Formula) -> Formula:
    """Equal rows of values. Of two NULLs some systems say that they are equal, so one side has literals."""
    sides = [[part for one in formulas_of(side) for part in formulas_of(one)] for side in (left, right)]
    has_literals = any(all(part.op in LITERALS for part in side) for side in sides)
    if not has_literals or len(sides[0]) != len(sides[1]):
        return condition
    return connect(store, "and", [compare(store, "eq", one, other) for one, other in zip(*sides, strict=True)])


def _filter_test(store: Formulas, condition: Formula) -> Formula:
    """`IS TRUE` and `IS FALSE`."""
    wanted = [part for part in formulas_of(condition) if part.op == "boolean"]
    rest = [part for part in formulas_of(condition) if part.op != "boolean"]
    if len(wanted) != 1 or len(rest) != 1:
        return condition
    return as_filter(store, rest[0] if wanted[0].args[0] == "true" else negate(store, rest[0]))


def _filter_negation(store: Formulas, condition: Formula) -> Formula:
    """`IS NOT TRUE`, and NOT of a condition with a default."""
    (inside,) = formulas_of(condition)
    parts = formulas_of(inside)
    wanted = [part for part in parts if part.op == "boolean"]
    rest = [part for part in parts if part.op != "boolean"]
    if inside.op not in ("is", "coalesce") or len(wanted) != 1 or len(rest) != 1:
        return condition
    is_true = wanted[0].args[0] == "true"
    if inside.op == "coalesce":
        return _or_missing(store, negate(store, rest[0]), not is_true)
    return _or_missing(store, negate(store, rest[0]) if is_true else rest[0], True)


def _filter_null_safe(store: Formulas, condition: Formula) -> Formula:
    """`IS NOT DISTINCT FROM` a literal."""
    (both,) = formulas_of(condition)
    literals = [part for part in formulas_of(both) if part.op in LITERALS]
    rest = [part for part in formulas_of(both) if part.op not in LITERALS]
    if len(literals) != 1 or len(rest) != 1:
        return condition
    if condition.op == "nullsafeeq":
        return compare(store, "eq", rest[0], literals[0])
    return connect(store, "or", [compare(store, "neq", rest[0], literals[0]), is_null(rest[0])])


def _null_safe(store: Formulas, condition: Formula) -> Formula:
    """`a = b OR (a IS NULL AND b IS NULL)`, which is NULL instead of false where one of them is NULL."""
    parts = formulas_of(condition)
    if len(parts) != 2:
        return condition
    for equal, both in (parts, reversed(parts)):
        tested = {null_tested(part) for part in formulas_of(both)} if both.op == "and" else set()
        if equal.op == "eq" and len(both.args) == 2 and tested == set(equal.args):
            return store.make("nullsafeeq", store.make("bag", *equal.args))
    return condition
