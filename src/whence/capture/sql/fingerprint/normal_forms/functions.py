"""Functions and operators that are written in several ways, in a normal form.

A rule is allowed only if both spellings give the same value for every row, NULLs included.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise, product
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.logic import (
    LITERALS,
    as_filter,
    connect,
    formulas_of,
    integer_of,
    negate,
    null_source,
    null_tested,
)
from whence.capture.sql.provenance.formulas import COMMUTATIVE, IDEMPOTENT, Formula, Formulas

_FILTERED: Final = frozenset({"sum", "avg", "min", "max", "logicalor", "logicaland"})
_NUMBERINGS: Final = ("rownumber", "rank", "denserank")
_TOTAL: Final = frozenset({"exists", "nullsafeeq", "nullsafeneq"})


def make_coalesce(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """The first value that is not NULL; nested calls are one, and nothing comes after a value that is never NULL."""
    flat = [one for part in parts for one in (formulas_of(part) if part.op == "coalesce" else (part,))]
    flat = [_without_own_default(store, one, flat[place + 1 :]) for place, one in enumerate(flat)]
    kept = list(dict.fromkeys(one for one in flat if one.op != "null")) or [store.make("null")]
    last = next((place for place, one in enumerate(kept) if is_never_null(one)), len(kept))
    kept = kept[: last + 1]
    return store.make("coalesce", *kept) if len(kept) > 1 else kept[0]


def _without_own_default(store: Formulas, value: Formula, rest: Sequence[Formula]) -> Formula:
    """A column of an outer join without the default that follows anyway."""
    inside = value.args[1] if value.op == "of" else None
    if not isinstance(inside, Formula) or inside.op != "coalesce" or len(rest) != 1 or len(inside.args) != 2:
        return value
    column, default = formulas_of(inside)
    instance = value.args[0]
    assert isinstance(instance, Formula)
    return store.push(column, instance, whole=True) if default is rest[0] and default.op in LITERALS else value


def is_never_null(value: Formula) -> bool:
    """Whether a value is never NULL, whatever the columns are."""
    parts = formulas_of(value)
    if value.op == "coalesce":
        return any(map(is_never_null, parts))
    if value.op in ("aggregate", "window"):
        return value.args[0] in ("count", *_NUMBERINGS) and value.args[:1] != ("over",)
    if value.op in ("add", "mul", "neg"):
        return all(map(is_never_null, parts))
    if value.op == "case":
        return all(map(is_never_null, (*parts[1::2], parts[-1])))
    return value.op in ("string", "number", "boolean", "concat") or _is_total(value)


def make_case(store: Formulas, branches: Sequence[tuple[Formula, Formula]], default: Formula) -> Formula:
    """CASE, of which a nested one is a part. Its conditions are filters: NULL is false in them."""
    branches = _merged(store, [*_flat_branches(store, branches)], default)
    if not branches:
        return default
    if default.op == "case":
        parts = formulas_of(default)
        inner = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        return make_case(store, [*branches, *inner], parts[-1])
    tested = [_not_null(condition) for condition, _ in branches]
    if all(one is not None and one is value for one, (_, value) in zip(tested, branches, strict=True)):
        return make_coalesce(store, [*(value for _, value in branches), default])
    if len(branches) == 1:
        return _single_case(store, *branches[0], default)
    flat = [part for branch in _in_order(branches) for part in branch]
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
        return condition if _is_total(condition) else store.make("coalesce", condition, default)
    if condition.op == "not" and _is_total(condition):
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


def _not_null(condition: Formula) -> Formula | None:
    return null_tested(formulas_of(condition)[0]) if condition.op == "not" else None


def _is_total(condition: Formula) -> bool:
    """Whether a condition is never NULL."""
    if condition.op in ("not", "and", "or"):
        return all(map(_is_total, formulas_of(condition)))
    return condition.op in _TOTAL or null_tested(condition) is not None


def _in_order(branches: Sequence[tuple[Formula, Formula]]) -> Sequence[tuple[Formula, Formula]]:
    """Branches in an order of their own, as far as they exclude each other: neighbours that do may change places."""
    rest, ordered = list(branches), list[tuple[Formula, Formula]]()
    if not any(_excludes(one[0], other[0]) for one, other in pairwise(branches)):
        return branches
    shapes = _Shapes()
    while rest:
        free = [one for place, one in enumerate(rest) if all(_excludes(one[0], other[0]) for other in rest[:place])]
        ordered.append(min(free, key=lambda branch: shapes.of(branch[0])))
        rest.remove(ordered[-1])
    return ordered


class _Shapes:
    """Digests of formulas that do not depend on which sources they read, since these are numbered as they are read."""

    def __init__(self) -> None:
        self._known: dict[Formula, bytes] = {}

    def of(self, formula: Formula) -> bytes:
        if not formula.is_open:
            return formula.digest
        if formula.op == "inst":
            return b""
        found = self._known.get(formula)
        if found is None:
            parts = [self.of(arg) if isinstance(arg, Formula) else repr(arg).encode() for arg in formula.args]
            ordered = sorted(parts) if formula.op in COMMUTATIVE | IDEMPOTENT else parts
            found = self._known[formula] = blake2b(b"\0".join((formula.op.encode(), *ordered)), digest_size=16).digest()
        return found


def _excludes(one: Formula, other: Formula) -> bool:
    """Whether two conditions are never true together: one value is compared with different literals, or two values
    are smaller, greater or equal.
    """
    return any(_contradicts(*pair) for pair in product(_conjuncts(one), _conjuncts(other)))


def _conjuncts(condition: Formula) -> list[Formula]:
    return formulas_of(condition) if condition.op == "and" else [condition]


def _contradicts(one: Formula, other: Formula) -> bool:
    if one.op == "or" or other.op == "or":
        alternatives = (formulas_of(part) if part.op == "or" else [part] for part in (one, other))
        return all(_excludes(*pair) for pair in product(*alternatives))
    first, second = _compared(one), _compared(other)
    if first is not None and second is not None:
        return first[0] is second[0] and type(first[1]) is type(second[1]) and first[1] != second[1]
    if {one.op, other.op} == {"lt"}:
        return one.args == other.args[::-1]
    if {one.op, other.op} == {"lt", "lte"}:
        return one.args == other.args[::-1]
    return {one.op, other.op} == {"lt", "eq"} and set(one.args) == set(other.args)


def _compared(condition: Formula) -> tuple[Formula, int | str] | None:
    if condition.op != "eq":
        return None
    first, second = formulas_of(condition)
    for value, literal in ((first, second), (second, first)):
        if (found := _distinct_literal(literal)) is not None and value.op not in ("number", "string"):
            return value, found
    return None


def _distinct_literal(value: Formula) -> int | str | None:
    """A whole number, or a text of letters and digits without case: different ones are equal in no collation."""
    text = str(value.args[0]) if value.op == "string" else ""
    is_number = text.isdigit() and text[0] != "0"
    is_plain = text.isascii() and text.isalnum() and (text[0].isalpha() or is_number)
    return text.lower() if is_plain else integer_of(value)


def make_filtered(store: Formulas, aggregate: Formula, condition: Formula) -> Formula:
    """An aggregate with FILTER: of the values for which the condition is true, else NULL, which it leaves out."""
    null = store.make("null")
    match aggregate.args:
        case ("count", Formula(op="star")):
            return count_where(store, condition)
        case ("count", Formula() as value) if value.op != "distinct":
            return store.make("aggregate", "count", make_case(store, [(condition, value)], null))
        case (str() as name, "this", Formula() as value) if name in _FILTERED and value.op != "distinct":
            return store.make("aggregate", name, "this", make_case(store, [(condition, value)], null))
        case ("count", Formula(op="distinct") as value) if (only := _distinct_value(value)) is not None:
            found = store.make("list", make_case(store, [(condition, only)], null))
            return store.make("aggregate", "count", store.make("distinct", "expressions", found))
    return store.make("aggregate", "filter", aggregate, condition)


def _distinct_value(distinct: Formula) -> Formula | None:
    """The one value of which DISTINCT counts the different ones."""
    parts = formulas_of(distinct)
    is_single = distinct.args[:1] == ("expressions",) and len(parts) == 1 and len(parts[0].args) == 1
    return formulas_of(parts[0])[0] if is_single else None


def count_where(store: Formulas, condition: Formula) -> Formula:
    """The number of rows for which a condition is true."""
    return make_count(store, make_case(store, [(condition, store.make("number", "1"))], store.make("null")))


def make_count(store: Formulas, value: Formula) -> Formula:
    """The number of values that are not NULL: which literal a CASE gives does not matter."""
    parts = formulas_of(value)
    if value.op == "case" and len(parts) == 3 and parts[2].op == "null" and parts[1].op in ("number", "string"):
        value = store.make("case", parts[0], store.make("number", "1"), parts[2])
        if (tested := _not_null(parts[0])) is not None:
            return make_count(store, tested)
    return store.make("aggregate", "count", value)


def sum_of_some(store: Formulas, value: Formula) -> Formula | None:
    """`coalesce(sum(x) FILTER (WHERE c), 0)` for the sum of a CASE with ELSE 0 over a group, which has a row."""
    parts = formulas_of(value)
    if value.op != "case" or len(parts) != 3 or integer_of(parts[2]) != 0 or not is_never_null(parts[1]):
        return None
    some = make_case(store, [(parts[0], parts[1])], store.make("null"))
    return make_coalesce(store, [store.make("aggregate", "sum", "this", some), parts[2]])


def make_concat(store: Formulas, parts: Sequence[Formula], skips_null: bool) -> Formula:
    """Texts one after the other. `skips_null`: NULL counts as the empty text; else it makes all of it NULL."""
    name = "concat" if skips_null else "dpipe"
    flat = _flat(name, parts)
    if skips_null or all(map(_is_text, flat)):
        return store.make("concat", *map(_without_default, _flat("concat", flat)))
    return store.make("dpipe", *flat)


def _flat(name: str, parts: Sequence[Formula]) -> list[Formula]:
    return [one for part in parts for one in (formulas_of(part) if part.op == name else (part,))]


def _is_text(value: Formula) -> bool:
    """Whether a text is never NULL."""
    if value.op == "coalesce":
        return any(map(_is_text, formulas_of(value)))
    return value.op in ("string", "concat")


def _without_default(value: Formula) -> Formula:
    parts = formulas_of(value)
    if value.op == "coalesce" and len(parts) == 2 and parts[1] is value.store.make("string", ""):
        return parts[0]
    return value


def is_default_frame(spec_text: str, has_order: bool) -> bool:
    """Whether a window has the same frame without its clause."""
    text = re.sub(r"\s+", " ", spec_text.upper()).strip()
    if has_order:
        return text in ("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "RANGE UNBOUNDED PRECEDING")
    return re.fullmatch(r"(ROWS|RANGE) BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", text) is not None


def turn_lead(store: Formulas, function: Formula, order: Sequence[Formula]) -> tuple[Formula, list[Formula]]:
    """LEAD as LAG over the opposite order."""
    if function.op != "lead" or not order or any(one.op != "ordered" for one in order):
        return function, list(order)
    return store.make("lag", *function.args), [_opposite(one) for one in order]


def _opposite(ordered: Formula) -> Formula:
    flags = [flag for flag in ("desc", "nulls_first") if flag not in ordered.args]
    return ordered.store.make("ordered", *flags, *formulas_of(ordered))


def bind_parameters(store: Formulas, names: Sequence[str], body: Formula) -> Formula:
    """A lambda whose parameters are named by their place, and by how many lambdas are inside of each other in it."""
    height = max(_heights(body), default=-1) + 1
    renamed = {name: f"#{height}.{place}" for place, name in enumerate(names)}
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if part not in memo:
            is_bound = part.op in ("parameter", "identifier") and part.args[0] in renamed
            memo[part] = (
                store.make("parameter", renamed[str(part.args[0])], *part.args[1:])
                if is_bound
                else store.rebuild(part, visit)
            )
        return memo[part]

    return store.make("lambda", height, len(names), visit(body))


def _heights(formula: Formula) -> Iterator[int]:
    """The heights of the lambdas in a formula."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part.op == "lambda" and isinstance(part.args[0], int):
            yield part.args[0]
        if part not in seen:
            seen.add(part)
            remaining += formulas_of(part)
