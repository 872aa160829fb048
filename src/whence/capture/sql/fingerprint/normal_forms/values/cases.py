"""CASE, GREATEST and LEAST, which are written in several ways."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.conditions.filters import as_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect, is_condition, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import (
    is_never_null,
    is_null,
    is_null_with,
    is_total,
    not_null,
    null_sources,
    null_tested,
)
from whence.capture.sql.fingerprint.normal_forms.terms.signs import absolute, minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_boolean, is_exact_type, is_rounded_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.branch_order import exclusive, in_order
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce, with_one_precision
from whence.capture.sql.fingerprint.normal_forms.values.range_cases import case_of_ranges
from whence.capture.sql.provenance.formulas import Formula, Formulas

NUMBERED_TRUTHS: Final = frozenset({"duckdb", "postgres", "spark", "databricks"})
"""Dialects in which a cast of true to INTEGER is 1, as a literal of that type."""


def make_case(
    store: Formulas,
    branches: Sequence[tuple[Formula, Formula]],
    default: Formula,
    is_known: Callable[[Formula], bool] = is_never_null,
) -> Formula:
    """CASE, of which a nested one is a part. Its conditions are filters: NULL is false in them.

    `is_known`: what is never NULL.
    """
    values = with_one_precision(store, [*(value for _, value in branches), default])
    branches, default = list(zip((condition for condition, _ in branches), values[:-1], strict=True)), values[-1]
    if len(branches) == 1 and (extreme := _extreme_case(store, *branches[0], default, is_known)) is not None:
        return extreme
    flat_branches = [*_flat_branches(store, branches)]
    if default.op != "case" and (ranges := case_of_ranges(store, flat_branches, default, is_known)) is not None:
        return ranges
    for place, (condition, value) in enumerate(flat_branches):
        if condition is store.make("boolean", "true"):
            return make_case(store, flat_branches[:place], value, is_known)
    branches = _merged(store, exclusive(store, flat_branches), default)
    if not branches:
        return default
    if default.op == "case":
        parts = formulas_of(default)
        inner = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        return make_case(store, [*branches, *inner], parts[-1], is_known)
    if all(condition is negate(store, is_null(value)) for condition, value in branches):
        return make_coalesce(store, [*(value for _, value in branches), default])
    if len(branches) == 1:
        return _single_case(store, *branches[0], default)
    flat = [part for branch in in_order(branches) for part in branch]
    return store.make("case", *flat, default)


def coalesce_cases(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """`coalesce` of a CASE without ELSE as the CASE with the default as its ELSE, if no branch gives NULL; of a CASE of
    which one branch alone is NULL as a CASE that gives the default there.
    """
    match parts:
        case [
            Formula(op="cast", args=(Formula() as truth, Formula(op="type") as kind)),
            Formula(op="number") as default,
        ]:
            if (flag := _flag(store, truth, kind, default)) is not None:
                return flag
        case [Formula(op="case", args=(Formula() as condition, Formula(op="null"), Formula() as value)), default]:
            return make_case(store, [(connect(store, "or", [condition, is_null(value)]), default)], value)
    if len(parts) == 2 and parts[0].op == "case" and parts[0].args[-1] is store.make("null"):
        inside = formulas_of(parts[0])
        if all(map(is_never_null, inside[1:-1:2])):
            return make_case(store, list(zip(inside[:-1:2], inside[1:-1:2], strict=True)), parts[1])
    return make_coalesce(store, parts)


def _flag(store: Formulas, truth: Formula, kind: Formula, default: Formula) -> Formula | None:
    """`coalesce(CAST(c AS INTEGER), 0)` as `CASE WHEN c THEN 1 ELSE 0 END`, of a condition that may be NULL."""
    if not is_numbered_truth(truth, kind) or default.args[0] not in ("0", "1"):
        return None
    one, zero = (store.make("number", text) for text in ("1", "0"))
    if default is zero:
        return make_case(store, [(truth, one)], zero)
    return make_case(store, [(negate(store, truth), zero)], one)


def is_numbered_truth(truth: Formula, kind: Formula) -> bool:
    """Whether a cast of a value to a type is 1 for true and 0 for false, as literals."""
    is_whole = truth.store.dialect in NUMBERED_TRUTHS and str(kind.args[0]) in ("int", "integer")
    return is_whole and (is_condition(truth) or is_boolean(truth))


def _flat_branches(store: Formulas, branches: Sequence[tuple[Formula, Formula]]) -> Iterator[tuple[Formula, Formula]]:
    """The branches with conditions as filters see them; a CASE inside of a branch is several branches."""
    for condition, value in branches:
        wanted = as_filter(store, condition)
        parts = formulas_of(value) if value.op == "case" else []
        for inner, found in zip(parts[:-1:2], parts[1:-1:2], strict=True):
            yield as_filter(store, connect(store, "and", [wanted, inner])), found
        yield wanted, parts[-1] if parts else value


def _merged(
    store: Formulas, branches: Sequence[tuple[Formula, Formula]], default: Formula
) -> list[tuple[Formula, Formula]]:
    """Neighbours of one value as one branch, without those that never apply and those that give what is left anyway."""
    merged: list[tuple[Formula, Formula]] = []
    for condition, value in branches:
        if condition.args == ("false",):
            continue
        if merged and merged[-1][1] is value:
            condition = connect(store, "or", [merged.pop()[0], condition])
        merged.append((condition, value))
    while merged and merged[-1][1] is default:
        merged.pop()
    return merged


def _single_case(store: Formulas, condition: Formula, value: Formula, default: Formula) -> Formula:
    if condition is is_null(default):
        return make_coalesce(store, [default, value])
    if (value.args, default.args) == (("true",), ("false",)):
        return condition if is_total(condition) else store.make("coalesce", condition, default)
    if (value.args, default.args) == (("false",), ("true",)) and is_total(condition):
        return negate(store, condition)
    if condition.op == "not" and is_total(condition):
        (inner_condition,) = formulas_of(condition)
        return _single_case(store, inner_condition, default, value)
    if default.op == "null" and all(is_null_with(value, one) for one in _tested_sources(condition)):
        if all(one.op == "not" and null_tested(formulas_of(one)[0]) for one in conjuncts_of(condition)):
            return value
        if condition.op == "neq" and any(one.op in ("number", "string") for one in formulas_of(condition)):
            return store.make("case", negate(store, condition), default, value)
    if (opposite := opposite_test(store, condition)) is not None:
        return _single_case(store, opposite, default, value)
    is_test = value.op == "null" and condition.op in ("lt", "lte")
    if is_test and all(is_null_with(default, one) for one in null_sources(condition)):
        return store.make("case", negate(store, condition), default, value)
    return store.make("case", condition, value, default)


def _tested_sources(condition: Formula) -> tuple[Formula, ...]:
    """The values of which one is NULL where a condition is NULL, or where it asks whether it is."""
    sources = (not_null(one) for one in conjuncts_of(condition))
    pairs = zip(conjuncts_of(condition), sources, strict=True)
    return tuple(found for one, tested in pairs for found in ((tested,) if tested else null_sources(one)))


def _extreme_case(
    store: Formulas, condition: Formula, value: Formula, default: Formula, is_known: Callable[[Formula], bool]
) -> Formula | None:
    """`CASE WHEN a <= b THEN a ELSE b END`, for which `<` gives the same; LEAST or GREATEST if neither is ever NULL.

    Only of values of which equal ones are the same: texts that a collation holds equal may differ. Where NULL is
    neither, the condition is compared in its normal form: `8 < a` and `9 <= a` ask the same of whole numbers.
    """
    if condition.op not in ("lt", "lte") or not are_ordered((value, default)):
        return None
    if (inside := _without_sign(store, condition, value, default)) is not None:
        return absolute(store, inside)
    is_pair = set(condition.args) == {value, default}
    orders = ((value, default), (default, value)) if is_known(value) and is_known(default) else ()
    for name, order in zip(("least", "greatest"), orders, strict=False):
        if condition in [compare(store, operation, *order) for operation in ("lt", "lte")]:
            return store.make(name, store.make("set", value, default))
    return store.make("case", store.make("lt", *condition.args), value, default) if is_pair else None


def _without_sign(store: Formulas, condition: Formula, value: Formula, default: Formula) -> Formula | None:
    """The x of `CASE WHEN x < 0 THEN -x ELSE x END`, if it has no rounding."""
    zero = store.make("number", "0")
    for inside, opposite, sides in ((default, value, (default, zero)), (value, default, (zero, value))):
        if is_exact_type(type_of(inside)) and opposite is minus(store, inside):
            return inside if condition in [compare(store, name, *sides) for name in ("lt", "lte")] else None
    return None


def are_ordered(values: Sequence[Formula]) -> bool:
    """Whether values are compared as numbers or as moments, of which equal ones are the same: not so the two zeros."""
    if any(is_rounded_type(type_of(one)) for one in values):
        return False
    return any(map(is_number, values)) or all(type_of(value) in ("date", "timestamp") for value in values)


def is_number(value: Formula) -> bool:
    """Whether a value is known to be a number."""
    if value.op in ("coalesce", "of"):
        return any(map(is_number, formulas_of(value)))
    is_total = value.op == "aggregate" and value.args[0] in ("sum", "count", "avg")
    return is_total or value.op in ("number", "mul", "neg") or is_exact_type(type_of(value))


def make_extreme(store: Formulas, name: str, values: Sequence[Formula], flags: Sequence[str]) -> Formula:
    """GREATEST or LEAST: their arguments have no order. `flags`: what they do with NULL, if one may be NULL."""
    different = list(dict.fromkeys(values))
    unsure = [one for one in different if not is_never_null(one)]
    if not unsure:
        return store.make(name, store.make("set", *different))
    is_rounded = any(is_rounded_type(type_of(one)) for one in different)
    if len(different) == 2 and len(unsure) == 1 and "ignore_nulls True" in flags and not is_rounded:
        (known,) = (one for one in different if one not in unsure)
        order = (unsure[0], known) if name == "least" else (known, unsure[0])
        return make_case(store, [(store.make("lt", *order), unsure[0])], known)
    return store.make(name, store.make("set", *values), *flags)


def opposite_test(
    store: Formulas, condition: Formula, is_known: Callable[[Formula], bool] | None = None
) -> Formula | None:
    """`a = 1` for `a <> 1 OR a IS NULL`: each is true where the other is not, if all is NULL with the same values.
    `is_known`: what is never NULL.
    """
    parts = formulas_of(condition) if condition.op == "or" else []
    others = [part for part in parts if null_tested(part) is None]
    tested = {null_tested(part) for part in parts} - {None}
    tests = [part for one in others for part in conjuncts_of(one)]
    sources = [{one for one in null_sources(part) if is_known is None or not is_known(one)} for part in tests]
    is_whole = bool(tested) and bool(tests) and all(several == tested for several in sources)
    return negate(store, connect(store, "or", others)) if is_whole else None
