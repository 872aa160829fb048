"""Sums and products: without order, with whole numbers computed. A difference is a sum with a negative value."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import reduce
from itertools import combinations
from math import prod

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where
from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import excludes
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of, make_date
from whence.capture.sql.fingerprint.normal_forms.terms.literals import INTEGER, flat_parts, formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.terms.polynomials import multiplied_out
from whence.capture.sql.fingerprint.normal_forms.terms.signs import minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, is_whole_type, type_named, type_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import is_count
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import Formula, Formulas

_SHORT = frozenset({"real", "float", "float4"})
"""Floating-point numbers that have fewer digits than others."""
_SMALL = frozenset({"tinyint", "smallint", "integer"})


def add(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """A sum; sums in it are parts of it. A literal date and a number of days are a date."""
    if (day := _moved_date(store, parts)) is not None:
        return day
    return multiplied_out(store, fold_numbers(store, "add", _without_counts(store, _with_numbers(store, parts))))


def _with_numbers(store: Formulas, parts: Sequence[Formula]) -> Sequence[Formula]:
    """A sum with numbers in place of parts of literal dates, if a part of another date has the type of the sum."""
    inside = [_without_minus(part) for part in parts]
    known = [_part_of_date(one) if one.op == "extract" else None for one in inside]
    if store.dialect != "duckdb" or not any(
        one.op == "extract" and number is None for one, number in zip(inside, known, strict=True)
    ):
        return parts
    return [
        part if number is None else store.make("number", str(-number if part.op == "neg" else number))
        for part, number in zip(parts, known, strict=True)
    ]


def _part_of_date(value: Formula) -> int | None:
    """The year, quarter, month or day of a literal date."""
    day = date_of(formulas_of(value)[0])
    match day, value.args[0]:
        case date(), "quarter":
            return (day.month + 2) // 3
        case date(), "year" | "month" | "day" as part:
            return int(getattr(day, str(part)))
    return None


def _moved_date(store: Formulas, parts: Sequence[Formula]) -> Formula | None:
    """The date that is some days before or after a literal one, which DuckDB and Postgres write with a number."""
    days = [one for one in map(date_of, parts) if one is not None]
    numbers = [one for one in map(integer_of, parts) if one is not None]
    if len(days) != 1 or len(days) + len(numbers) != len(parts) or store.dialect not in ("duckdb", "postgres"):
        return None
    try:
        return make_date(store, days[0] + timedelta(days=sum(numbers)))
    except OverflowError:
        return None


def with_sign(store: Formulas, value: Formula) -> Formula:
    """`CASE WHEN c THEN -x ELSE x END` for x times a CASE of 1 and -1, where the digits of types do not matter."""
    factors = formulas_of(value) if value.op == "mul" else []
    signs = [one for one in factors if one.op == "case" and _has_signs(one)]
    if len(factors) != 2 or len(signs) != 1:
        return value
    (amount,) = (one for one in factors if one is not signs[0])
    changed = [minus(store, amount) if integer_of(one) == -1 else amount for one in _values(signs[0])]
    branches = list(zip(formulas_of(signs[0])[:-1:2], changed[:-1], strict=True))
    return make_case(store, branches, changed[-1])


def _values(case: Formula) -> list[Formula]:
    parts = formulas_of(case)
    return [*parts[1:-1:2], parts[-1]]


def _has_signs(case: Formula) -> bool:
    return all(integer_of(one) in (-1, 1) for one in _values(case))


def _without_counts(store: Formulas, parts: Sequence[Formula]) -> Sequence[Formula]:
    """`count(*) - count(x)` as the number of rows in which x is NULL, or a condition is not true."""
    parts = _with_joined_totals(store, parts)
    rows = store.make("aggregate", "count", store.make("star"))
    for part in parts if rows in parts else ():
        match part.args:
            case (Formula(op="aggregate", args=("count", Formula() as value)),) if (
                part.op == "neg" and value.op not in ("star", "distinct") and not value.is_volatile
            ):
                rest = [one for one in parts if one is not part]
                rest.remove(rows)
                return [*rest, count_others(store, value)]
    return parts


def _with_joined_totals(store: Formulas, parts: Sequence[Formula]) -> Sequence[Formula]:
    """Numbers of rows and totals of conditions that exclude each other, as one for either of them."""
    chosen = [(part, found) for part in parts if (found := _chosen_total(part)) is not None]
    for (one, (condition, total)), (other, (second, beside)) in combinations(chosen, 2):
        rest = [part for part in parts if part not in (one, other)]
        if total is beside and excludes(condition, second) and len(rest) == len(parts) - 2:
            either = _total_of_some(store, connect(store, "or", [condition, second]), total)
            return _with_joined_totals(store, [*rest, either])
    return parts


def _chosen_total(part: Formula) -> tuple[Formula, Formula] | None:
    """The condition of the rows that `count(*) FILTER (WHERE …)` counts, or whose values are summed up with 0 as the
    default; and what is summed up, 1 if rows are counted.
    """
    has_default = part.op == "coalesce" and len(part.args) == 2 and integer_of(part.parts[1]) == 0
    total = part.parts[0] if has_default else part
    if total.op != "aggregate" or total.args[0] != ("sum" if has_default else "count") or not total.parts:
        return None
    chosen = total.parts[0]
    if chosen.op != "case" or len(chosen.args) != 3 or chosen.parts[2].op != "null":
        return None
    is_exact = is_exact_type(type_of(chosen.parts[1])) if has_default else integer_of(chosen.parts[1]) == 1
    return (chosen.parts[0], chosen.parts[1]) if is_exact else None


def _total_of_some(store: Formulas, condition: Formula, value: Formula) -> Formula:
    if integer_of(value) == 1:
        return count_where(store, condition)
    chosen = make_case(store, [(condition, value)], store.make("null"))
    return make_coalesce(store, [store.make("aggregate", "sum", "this", chosen), store.make("number", "0")])


def count_others(store: Formulas, value: Formula) -> Formula:
    """The number of rows that `count(value)` leaves out."""
    match value.args:
        case (Formula() as condition, Formula(op="number") as one, Formula(op="null") as null) if value.op == "case":
            return store.make("aggregate", "count", make_case(store, [(condition, null)], one))
    return count_where(store, is_null(value))


def multiply(store: Formulas, parts: Sequence[Formula]) -> Formula:
    """A product; a whole number times a sum of parts of dates is the sum of the products, which are small."""
    product = multiplied_out(store, fold_numbers(store, "mul", parts))
    factors = formulas_of(product) if product.op == "mul" else []
    sums = [one for one in factors if one.op == "add"]
    numbers = [one for one in factors if integer_of(one) is not None]
    if len(factors) != 2 or len(sums) != 1 or len(numbers) != 1:
        return product
    terms = formulas_of(sums[0])
    if not all(_without_minus(one).op == "extract" or integer_of(one) is not None for one in terms):
        return product
    return add(store, [_times(store, numbers[0], one) for one in terms])


def _without_minus(value: Formula) -> Formula:
    return formulas_of(value)[0] if value.op == "neg" else value


def _times(store: Formulas, number: Formula, term: Formula) -> Formula:
    if term.op == "neg":
        return minus(store, fold_numbers(store, "mul", [number, formulas_of(term)[0]]))
    return fold_numbers(store, "mul", [number, term])


def divide(store: Formulas, left: Formula, right: Formula, flags: Sequence[str]) -> Formula:
    """A quotient. DuckDB divides as floating-point numbers: casts of whole numbers to numbers say nothing, and the sum
    of values by their number is their average.
    """
    if store.dialect == "duckdb":
        left, right = _uncast(left, right), _uncast(right, left)
        left, right = _whole_factor(left), _whole_number(right) if is_exact_type(type_of(left)) else right
        match (left.op, *left.args, right.op, *right.args):
            case ("aggregate", "sum", "this", Formula() as total, "aggregate", "count", Formula() as counted) if (
                total is counted and total.op != "distinct"
            ):
                return store.make("aggregate", "avg", "this", total)
    return store.make("div", left, right, *flags)


def _whole_factor(value: Formula) -> Formula:
    """`100 * n` for `100.0 * n` in front of `/`, of an n of so few digits that both are exact, cast or not."""
    factors = [_uncounted(one) for one in formulas_of(value)] if value.op == "mul" else []
    if len(factors) != 2 or not any(is_count(one) or type_of(one) in _SMALL for one in factors):
        return value
    return value.store.make("mul", *map(_whole_number, factors))


def _uncounted(value: Formula) -> Formula:
    """A number of rows without a cast to another type of whole numbers."""
    return formulas_of(value)[0] if value.op == "cast" and is_count(value) else value


def _whole_number(value: Formula) -> Formula:
    """A literal without digits behind the point that are all zero."""
    text = str(value.args[0]) if value.op == "number" else ""
    found = re.fullmatch(r"(\d{1,6})\.0{1,3}", text)
    return value if found is None else value.store.make("number", found[1])


def _uncast(value: Formula, other: Formula) -> Formula:
    """One side of a quotient of whole numbers without a cast to another type of numbers that holds all of them."""
    if value.op != "cast" or not (_is_whole_or_cast(other) or type_of(other) == "double"):
        return value
    inside, kind = formulas_of(value)
    name = type_named(str(kind.args[0]))
    return inside if is_whole_type(type_of(inside)) and name in ("double", "hugeint", "bigint") else value


def _is_whole_or_cast(value: Formula) -> bool:
    """Whether a value is a whole number, perhaps cast to a floating-point one."""
    inside = formulas_of(value)[0] if value.op == "cast" else value
    return is_whole_type(type_of(inside)) or is_exact_type(type_of(value))


def _has_order(parts: Sequence[Formula]) -> bool:
    """Whether it matters what is added first: floats beside other numbers have fewer digits, months are not as long as
    each other.
    """
    names = {type_of(_without_minus(one)) for one in parts}
    return "interval" in names or (len(names) > 1 and not names.isdisjoint(_SHORT))


def fold_numbers(store: Formulas, operation: str, parts: Sequence[Formula]) -> Formula:
    """A sum or a product, flat unless it is long, with whole numbers in it computed."""
    flat = flat_parts(operation, parts)
    if len(flat) > 2 and _has_order(flat):
        return reduce(lambda one, other: store.make(operation, one, other), parts)
    numbers = [one for one in map(integer_of, flat) if one is not None]
    others = [part for part in flat if integer_of(part) is None]
    total = str((sum if operation == "add" else prod)(numbers))
    if len(flat) == 1:
        return flat[0]
    if len(numbers) < 2 or not INTEGER.fullmatch(total):
        return store.make(operation, *flat)
    number = store.make("number", total)
    return store.make(operation, *others, number) if others else number
