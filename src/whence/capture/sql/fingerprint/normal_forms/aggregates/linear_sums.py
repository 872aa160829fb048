"""Sums of sums and products in the syntax of one row, as sums and products of totals.

`sum(2 * a - b)` is `2 * sum(a) - sum(b)` of numbers without rounding, if a and b are NULL in the same rows: SUM leaves
out a row of which one part is NULL. So it is of `sum(CASE WHEN c THEN 2 * a - b END)`. Sums of some rows are here, too.
"""

from collections.abc import Callable
from typing import NamedTuple

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of, is_exact_fraction
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, null_sources
from whence.capture.sql.fingerprint.normal_forms.terms.polynomials import terms_of
from whence.capture.sql.fingerprint.normal_forms.terms.signs import minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import OVERFLOWING, is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, multiply
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import Formula, Formulas

IsKnown = Callable[[Formula], bool]


class _Term(NamedTuple):
    """A product: what is the same in all rows, and the factors that are not."""

    fixed: tuple[Formula, ...]
    factors: tuple[Formula, ...]


def split_sum(
    store: Formulas, value: Formula, is_known: IsKnown, total: Callable[[Formula], Formula]
) -> Formula | None:
    """The sum of a value as sums of its parts; None if it is none. `total`: the sum of one part in its normal form.

    `is_known`: whether a value is not NULL in any row.
    """
    if store.dialect in OVERFLOWING:
        return None
    condition, inside, default = _chosen(value)
    terms = _terms(store, inside)
    if not _are_several(terms) or not _are_null_together(terms, is_known):
        return None

    def part(term: _Term) -> Formula:
        if not term.factors:
            counted = store.make("aggregate", "count", store.make("star"))
            counted = counted if condition is None else count_where(store, condition)
            return multiply(store, [*term.fixed, counted])
        product = multiply(store, term.factors) if len(term.factors) > 1 else term.factors[0]
        if condition is not None:
            product = make_case(store, [(condition, product)], default)
        return multiply(store, [*term.fixed, total(product)]) if term.fixed else total(product)

    parts = [part(term) for term in terms]
    return add(store, parts) if len(parts) > 1 else parts[0]


def sum_of_some(store: Formulas, value: Formula, is_known: Callable[[Formula], bool]) -> Formula | None:
    """`coalesce(sum(x) FILTER (WHERE c), 0)` for the sum of a CASE with ELSE 0 over a group, which has a row. A sum of
    a CASE with zero before ELSE is the total without that of the rows for which the condition is true.

    `is_known`: whether a value is not NULL in any of the rows.
    """
    parts, zero = formulas_of(value), store.make("number", "0")
    if value.op != "case" or len(parts) != 3 or zero not in parts[1:]:
        return None
    is_rest = parts[1] is zero
    condition, summed = parts[0], parts[2 if is_rest else 1]
    if not is_known(summed):
        return None
    if summed is store.make("number", "1") and store.dialect == "duckdb":
        opposite = connect(store, "or", [negate(store, condition), is_null(condition)])
        counted = count_where(store, opposite if is_rest else condition)
        return store.make("cast", counted, store.make("type", "int128"))
    is_exact = is_exact_type(type_of(summed)) and store.dialect not in OVERFLOWING
    if is_rest and (summed.op == "coalesce" or not is_exact):
        condition, is_rest = connect(store, "or", [negate(store, condition), is_null(condition)]), False
    some = make_case(store, [(condition, _without_zero(summed))], store.make("null"))
    total = make_coalesce(store, [store.make("aggregate", "sum", "this", some), zero])
    whole = store.make("aggregate", "sum", "this", summed)
    return add(store, [whole, minus(store, total)]) if is_rest else total


def _without_zero(value: Formula) -> Formula:
    """A value that is summed beside a default of zero, which it need not have itself."""
    parts = formulas_of(value) if value.op == "coalesce" else []
    return parts[0] if len(parts) == len(("value", "default")) and integer_of(parts[1]) == 0 else value


def _chosen(value: Formula) -> tuple[Formula | None, Formula, Formula]:
    """The condition under which a value counts, if it is zero or NULL else."""
    parts = formulas_of(value) if value.op == "case" else []
    if len(parts) == 3 and (parts[2].op == "null" or integer_of(parts[2]) == 0):
        return parts[0], parts[1], parts[2]
    return None, value, value


def _terms(store: Formulas, value: Formula) -> list[_Term]:
    if value.op not in ("add", "mul", "neg") or value.has_window:
        return []
    found = []
    for factors, number in (terms_of(store, value) or {}).items():
        fixed = [one for one in factors if is_exact_fraction(one)]
        if number != 1 or not factors:
            fixed.append(store.make("number", str(number)))
        found.append(_Term(tuple(fixed), tuple(one for one in factors if one not in fixed)))
    return found


def _are_several(terms: list[_Term]) -> bool:
    """Whether there is something to split, and a part of it is none that is the same in all rows."""
    return any(term.factors for term in terms) and (len(terms) > 1 or bool(terms[0].fixed))


def _are_null_together(terms: list[_Term], is_known: IsKnown) -> bool:
    sources = [
        frozenset(one for factor in term.factors for one in null_sources(factor) if not is_known(one)) for term in terms
    ]
    return len(set(sources)) == 1
