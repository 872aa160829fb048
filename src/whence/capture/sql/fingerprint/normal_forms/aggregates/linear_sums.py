"""Sums of sums and products in the syntax of one row, as sums and products of totals.

`sum(2 * a - b)` is `2 * sum(a) - sum(b)` of numbers without rounding, if a and b are NULL in the same rows: SUM leaves
out a row of which one part is NULL. So it is of `sum(CASE WHEN c THEN 2 * a - b END)`.
"""

from collections.abc import Callable
from typing import NamedTuple

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of, is_exact_fraction
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_sources
from whence.capture.sql.fingerprint.normal_forms.terms.polynomials import terms_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import OVERFLOWING
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, multiply
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
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
