"""Functions and operators that are written in several ways, in a normal form.

A rule is allowed only if both spellings give the same value for every row, NULLs included.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions import INTEGER, integer_of, null_tested
from whence.capture.sql.provenance.formulas import Formula, Formulas

_FILTERED: Final = frozenset({"sum", "avg", "min", "max"})
_TOTAL: Final = frozenset({"exists", "nullsafeeq", "nullsafeneq"})
_NUMBERS: Final[dict[str, Callable[[int, int], int]]] = {"add": int.__add__, "mul": int.__mul__, "sub": int.__sub__}


def fold_numbers(store: Formulas, operation: str, parts: Sequence[Formula]) -> Formula:
    """An operation whose arguments have no order, or a subtraction; whole numbers among them are computed."""
    numbers = [one for one in map(integer_of, parts) if one is not None]
    others = [part for part in parts if integer_of(part) is None]
    if len(numbers) < 2 or (operation == "sub" and others):
        return store.make(operation, *parts)
    total = numbers[0]
    for one in numbers[1:]:
        total = _NUMBERS[operation](total, one)
    if not INTEGER.fullmatch(str(total)):
        return store.make(operation, *parts)
    number = store.make("number", str(total))
    return store.make(operation, *others, number) if others else number


def make_coalesce(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """The first value that is not NULL; nested calls are one."""
    flat = [one for part in parts for one in (_formulas(part) if part.op == "coalesce" else (part,))]
    kept = list(dict.fromkeys(flat))
    return store.make("coalesce", *kept) if len(kept) > 1 else kept[0]


def make_case(store: Formulas, branches: Sequence[tuple[Formula, Formula]], default: Formula) -> Formula:
    """CASE, of which a nested one at the end is a part; a coalesce where it is one."""
    if default.op == "case":
        parts = _formulas(default)
        inner = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        return make_case(store, [*branches, *inner], parts[-1])
    tested = [_not_null(condition) for condition, _ in branches]
    if all(one is not None and one is value for one, (_, value) in zip(tested, branches, strict=True)):
        return make_coalesce(store, [*(value for _, value in branches), default])
    if len(branches) == 1:
        ((condition, value),) = branches
        if null_tested(condition) is default:
            return make_coalesce(store, [default, value])
        if condition.op == "not" and _is_total(condition):
            (inner_condition,) = _formulas(condition)
            return store.make("case", inner_condition, default, value)
    flat = [part for branch in _in_order(branches) for part in branch]
    return store.make("case", *flat, default)


def _not_null(condition: Formula) -> Formula | None:
    return null_tested(_formulas(condition)[0]) if condition.op == "not" else None


def _is_total(condition: Formula) -> bool:
    """Whether a condition is never NULL."""
    if condition.op in ("not", "and", "or"):
        return all(map(_is_total, _formulas(condition)))
    return condition.op in _TOTAL or null_tested(condition) is not None


def _in_order(branches: Sequence[tuple[Formula, Formula]]) -> Sequence[tuple[Formula, Formula]]:
    """Branches that compare one value with different literals exclude each other, so that they have no order."""
    pairs = [_compared(condition) for condition, _ in branches]
    values, literals = {pair[0] for pair in pairs if pair}, [pair[1] for pair in pairs if pair]
    is_of_one_kind = len({type(one) for one in literals}) == 1 and len(set(literals)) == len(branches)
    if len(branches) < 2 or len(values) != 1 or not is_of_one_kind:
        return branches
    return [branch for _, branch in sorted(zip(map(str, literals), branches, strict=True), key=lambda pair: pair[0])]


def _compared(condition: Formula) -> tuple[Formula, int | str] | None:
    if condition.op != "eq":
        return None
    first, second = _formulas(condition)
    for value, literal in ((first, second), (second, first)):
        if (found := _distinct_literal(literal)) is not None and value.op not in ("number", "string"):
            return value, found
    return None


def _distinct_literal(value: Formula) -> int | str | None:
    """A whole number, or a text of letters and digits without case: different ones are equal in no collation."""
    text = str(value.args[0]) if value.op == "string" else ""
    return text.lower() if text.isascii() and text.isalnum() else integer_of(value)


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
    return store.make("aggregate", "filter", aggregate, condition)


def count_where(store: Formulas, condition: Formula) -> Formula:
    """The number of rows for which a condition is true."""
    return make_count(store, store.make("case", condition, store.make("number", "1"), store.make("null")))


def make_count(store: Formulas, value: Formula) -> Formula:
    """The number of values that are not NULL: which literal a CASE gives does not matter."""
    parts = _formulas(value)
    if value.op == "case" and len(parts) == 3 and parts[2].op == "null" and parts[1].op in ("number", "string"):
        value = store.make("case", parts[0], store.make("number", "1"), parts[2])
    return store.make("aggregate", "count", value)


def make_concat(store: Formulas, parts: Sequence[Formula], skips_null: bool) -> Formula:
    """Texts one after the other. `skips_null`: NULL counts as the empty text; else it makes all of it NULL."""
    name = "concat" if skips_null else "dpipe"
    flat = _flat(name, parts)
    if skips_null or all(map(_is_never_null, flat)):
        return store.make("concat", *map(_without_default, _flat("concat", flat)))
    return store.make("dpipe", *flat)


def _flat(name: str, parts: Sequence[Formula]) -> list[Formula]:
    return [one for part in parts for one in (_formulas(part) if part.op == name else (part,))]


def _is_never_null(value: Formula) -> bool:
    parts = _formulas(value)
    if value.op == "coalesce":
        return any(map(_is_never_null, parts))
    return value.op in ("string", "concat")


def _without_default(value: Formula) -> Formula:
    parts = _formulas(value)
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
    return ordered.store.make("ordered", *flags, *_formulas(ordered))


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
            remaining += _formulas(part)


def _formulas(formula: Formula) -> list[Formula]:
    return [arg for arg in formula.args if isinstance(arg, Formula)]
