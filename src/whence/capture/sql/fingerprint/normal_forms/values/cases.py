"""CASE, GREATEST and LEAST, which are written in several ways."""

from collections.abc import Iterator, Sequence

from whence.capture.sql.fingerprint.normal_forms.conditions.filters import as_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_source, null_tested
from whence.capture.sql.fingerprint.normal_forms.values.branch_order import in_order
from whence.capture.sql.fingerprint.normal_forms.values.defaults import is_never_null, is_total, make_coalesce
from whence.capture.sql.provenance.formulas import Formula, Formulas


def make_case(store: Formulas, branches: Sequence[tuple[Formula, Formula]], default: Formula) -> Formula:
    """CASE, of which a nested one is a part. Its conditions are filters: NULL is false in them."""
    branches = _merged(store, [*_flat_branches(store, branches)], default)
    if not branches:
        return default
    if default.op == "case":
        parts = formulas_of(default)
        inner = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        return make_case(store, [*branches, *inner], parts[-1])
    tested = [not_null(condition) for condition, _ in branches]
    if all(one is not None and one is value for one, (_, value) in zip(tested, branches, strict=True)):
        return make_coalesce(store, [*(value for _, value in branches), default])
    if len(branches) == 1:
        return _single_case(store, *branches[0], default)
    flat = [part for branch in in_order(branches) for part in branch]
    return store.make("case", *flat, default)


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
    if null_tested(condition) is default:
        return make_coalesce(store, [default, value])
    if (value.args, default.args) == (("true",), ("false",)):
        return condition if is_total(condition) else store.make("coalesce", condition, default)
    if condition.op == "not" and is_total(condition):
        (inner_condition,) = formulas_of(condition)
        return _single_case(store, inner_condition, default, value)
    if default.op == "null" and _is_nullif(condition, value):
        return store.make("case", negate(store, condition), default, value)
    if (opposite := _opposite_test(store, condition)) is not None:
        return _single_case(store, opposite, default, value)
    return _extreme_case(store, condition, value, default) or store.make("case", condition, value, default)


def _is_nullif(condition: Formula, value: Formula) -> bool:
    """Whether `CASE WHEN a <> 1 THEN a END` is `nullif(a, 1)`: with two columns, NULL of the other one would count."""
    rest = [arg for arg in formulas_of(condition) if arg is not value]
    return condition.op == "neq" and len(rest) == 1 and rest[0].op in ("number", "string")


def _extreme_case(store: Formulas, condition: Formula, value: Formula, default: Formula) -> Formula | None:
    """`CASE WHEN a <= b THEN a ELSE b END`, for which `<` gives the same; LEAST or GREATEST if neither is ever NULL.

    Numbers alone: texts that a collation holds equal may differ.
    """
    is_numeric = any(map(_is_number, (value, default)))
    if condition.op not in ("lt", "lte") or set(condition.args) != {value, default} or not is_numeric:
        return None
    if is_never_null(value) and is_never_null(default):
        return store.make("least" if condition.args[0] is value else "greatest", store.make("set", value, default))
    return store.make("case", store.make("lt", *condition.args), value, default)


def _is_number(value: Formula) -> bool:
    """Whether a value is known to be a number."""
    if value.op in ("coalesce", "of"):
        return any(map(_is_number, formulas_of(value)))
    is_total = value.op == "aggregate" and value.args[0] in ("sum", "count", "avg")
    return is_total or value.op in ("number", "mul", "neg")


def make_extreme(store: Formulas, name: str, values: Sequence[Formula], flags: Sequence[str]) -> Formula:
    """GREATEST or LEAST: their arguments have no order. `flags`: what they do with NULL, if one may be NULL."""
    different = list(dict.fromkeys(values))
    unsure = [one for one in different if not is_never_null(one)]
    if not unsure:
        return store.make(name, store.make("set", *different))
    if len(different) == 2 and len(unsure) == 1 and "ignore_nulls True" in flags:
        (known,) = (one for one in different if one not in unsure)
        order = (unsure[0], known) if name == "least" else (known, unsure[0])
        return make_case(store, [(store.make("lt", *order), unsure[0])], known)
    return store.make(name, store.make("set", *values), *flags)


def _opposite_test(store: Formulas, condition: Formula) -> Formula | None:
    """`a = 1` for `a <> 1 OR a IS NULL`: each is true where the other is not."""
    parts = formulas_of(condition)
    for test, compared in (parts, reversed(parts)) if condition.op == "or" and len(parts) == 2 else ():
        value = null_tested(test)
        tested = [arg for arg in formulas_of(compared) if null_source(arg) is value]
        if value is not None and compared.op == "neq" and tested:
            rest = [arg for arg in formulas_of(compared) if arg is not tested[0]]
            if len(rest) == 1 and rest[0].op in ("number", "string"):
                return negate(store, compared)
    return None


def not_null(condition: Formula) -> Formula | None:
    return null_tested(formulas_of(condition)[0]) if condition.op == "not" else None
