"""Conditions for whose purpose NULL is false: those of a filter, a join and a CASE."""

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import (
    compare,
    compare_literals,
    connect,
    is_condition,
    negate,
)
from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS, formulas_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, null_tested
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


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
        case "case" if all(part.op in ("boolean", "null") for part in (*parts[1:-1:2], parts[-1])):
            return _filter_case(store, condition)
        case "nullsafeeq" | "nullsafeneq":
            return _filter_null_safe(store, condition)
    return condition


def conditions_of_filter(condition: Formula) -> list[Formula]:
    """The conditions that a filter asks for with one, without what only says that NULL is false."""
    parts = formulas_of(condition)
    if condition.op == "and":
        return [one for part in parts for one in conditions_of_filter(part)]
    true, false = (condition.store.make("boolean", text) for text in ("true", "false"))
    match condition.op:
        case "is" | "eq" if true in parts and all(map(_may_be_boolean, parts)):
            return [one for part in parts if part is not true for one in conditions_of_filter(part)]
        case "coalesce" if len(parts) == 2 and parts[1] is false:
            return conditions_of_filter(parts[0])
        case "case" if len(parts) == 3 and parts[1] is true and (parts[2] is false or parts[2].op == "null"):
            return conditions_of_filter(parts[0])
    for flag, literal in (parts, parts[::-1]) if condition.op == "eq" else ():
        if flag.op == "case" and (found := _flagged(condition.store, "eq", flag, literal, True)) is not None:
            return conditions_of_filter(found)
    return [condition]


def _filter_case(store: Formulas, condition: Formula) -> Formula:
    """A CASE that is true, false or NULL: one of the branches that are true applies, and none before it."""
    *branches, default = formulas_of(condition)
    true = store.make("boolean", "true")
    found = store.make("boolean", str(default is true).lower())
    for wanted, value in reversed(list(zip(branches[::2], branches[1::2], strict=True))):
        applies = as_filter(store, wanted)
        if value is true:
            found = connect(store, "or", [applies, found])
        elif found.args != ("false",):
            found = connect(store, "and", [_or_missing(store, negate(store, applies), True), found])
    return found


def _or_missing(store: Formulas, value: Formula, is_kept: bool) -> Formula:
    """A condition that is `is_kept` where its value is NULL."""
    found = as_filter(store, value)
    return connect(store, "or", [found, is_null(value)]) if is_kept else found


def _filter_comparison(store: Formulas, condition: Formula) -> Formula:
    left, right = formulas_of(condition)
    if (decided := compare_literals(condition.op, left, right)) is not None:
        return store.make("boolean", str(decided).lower())
    booleans = [part for part in (left, right) if part.op == "boolean"]
    if len(booleans) == 1 and condition.op == "eq" and _may_be_boolean(rest := right if booleans[0] is left else left):
        return as_filter(store, rest)
    if left.op == right.op == "tuple" and condition.op == "eq":
        return _filter_tuples(store, condition, left, right)
    for one, other in ((left, right), (right, left)):
        if one.op == "case" and (found := _flagged(store, condition.op, one, other, one is left)) is not None:
            return found
        if one.op == "coalesce" and len(one.args) == 2 and other.op in LITERALS:
            value, default = formulas_of(one)
            order = (default, other) if one is left else (other, default)
            if (computed := _compare_defaults(condition.op, *order)) is not None:
                order = (value, other) if one is left else (other, value)
                compared = compare(store, condition.op, *order)
                return connect(store, "or", [compared, is_null(value)]) if computed else compared
    return _of_extremes(store, condition) or _with_default(store, condition, left, right) or condition


def _of_extremes(store: Formulas, condition: Formula) -> Formula | None:
    """`x <= a OR x <= b` for `x <= greatest(a, b)`, which leaves out what is NULL."""
    for value, other in (condition.parts, condition.parts[::-1]):
        is_extreme = value.op in ("greatest", "least") and value.args[1:] == ("ignore_nulls True",)
        if not is_extreme or condition.op not in ("lt", "lte"):
            continue
        values, is_left = formulas_of(value.parts[0]), value is condition.parts[0]
        tests = [compare(store, condition.op, *((one, other) if is_left else (other, one))) for one in values]
        if (value.op == "greatest") is not is_left:
            return connect(store, "or", [as_filter(store, one) for one in tests])
        missing = [is_null(one) for one in values]
        each = [connect(store, "or", pair) for pair in zip(tests, missing, strict=True)]
        return connect(store, "and", [*each, connect(store, "or", [negate(store, one) for one in missing])])
    return None


def _may_be_boolean(value: Formula) -> bool:
    """Whether a value may be true or false: a number is compared with true as 1, and 2 is true as well."""
    return is_condition(value) or type_of(value) in ("boolean", "")


def _flagged(store: Formulas, operation: str, flag: Formula, literal: Formula, is_left: bool) -> Formula | None:
    """`CASE WHEN c THEN 1 ELSE 0 END = 0` as `c IS NOT TRUE`."""
    parts = formulas_of(flag)
    if len(parts) != 3 or any(part.op not in ("number", "string") for part in (*parts[1:], literal)):
        return None
    then, otherwise = (
        _compare_defaults(operation, *((value, literal) if is_left else (literal, value))) for value in parts[1:]
    )
    match then, otherwise:
        case True, False:
            return as_filter(store, parts[0])
        case False, True:
            return _or_missing(store, negate(store, parts[0]), True)
    return None


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


def _compare_defaults(operation: str, left: Formula, right: Formula) -> bool | None:
    computed = compare_literals(operation, left, right)
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
