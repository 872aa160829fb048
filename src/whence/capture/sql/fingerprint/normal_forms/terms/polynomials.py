"""Sums and products of numbers without rounding, multiplied out: `2 * (a + 1)` and `a + a + 2` are `2 * a + 2`."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import (
    INTEGER,
    formulas_of,
    integer_of,
    is_exact_fraction,
)
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, is_whole_type, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_MOST: Final = 12
"""A sum of more products than this is left as it is."""
_MOST_PARTS: Final = 64
"""So is one of more parts."""
_OPERATIONS: Final = frozenset({"add", "mul", "neg"})
_EXACT_PRODUCTS: Final = frozenset({"duckdb", "postgres"})
"""Dialects whose products of decimals have all of their digits."""
_Factors = tuple[Formula, ...]


def multiplied_out(store: Formulas, value: Formula) -> Formula:
    """A sum or a product as a sum of different products, each with a whole number; as it is if it may be rounded."""
    if value.op not in _OPERATIONS or not _is_exact(store, value):
        return value
    terms = _terms(value, {})
    if terms is None or len(terms) > _MOST:
        return value
    kept = {factors: number for factors, number in terms.items() if number or not _is_known_by_others(factors, terms)}
    if not all(INTEGER.fullmatch(str(number)) for number in kept.values()):
        return value
    parts = [_product(store, factors, number) for factors, number in kept.items() if factors or number]
    if value.op == "add" and {*formulas_of(value)} == {*parts, store.make("number", "0")}:
        return value  # `x + 0` is written as other defaults of a sum are
    if len(parts) < 2:
        return parts[0] if parts else store.make("number", "0")
    return store.make("add", *parts)


def terms_of(store: Formulas, value: Formula) -> Counter[_Factors] | None:
    """The products that a sum is made of by their factors, each with its number; None if it may be rounded."""
    return _terms(value, {}) if _is_exact(store, value) else None


def _is_exact(store: Formulas, value: Formula) -> bool:
    atoms = _atoms(value)
    kinds = {type_of(one) for one in atoms if not is_exact_fraction(one)}
    if not atoms or (all(map(is_whole_type, kinds)) and not any(map(is_exact_fraction, atoms))):
        return bool(atoms)
    is_small = "hugeint" not in kinds and all(map(is_exact_type, kinds))
    return is_small and store.dialect in _EXACT_PRODUCTS


def _atoms(value: Formula) -> list[Formula]:
    """The different values that sums and products are made of; none if there are too many parts to look at."""
    parts, atoms = {value: None}, []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one.op not in _OPERATIONS:
            atoms.append(one)
            continue
        following = [part for part in formulas_of(one) if part not in parts]
        parts.update(dict.fromkeys(following))
        waiting += dict.fromkeys(following)
        if len(parts) > _MOST_PARTS:
            return []
    return atoms


def _terms(value: Formula, known: dict[Formula, Counter[_Factors] | None]) -> Counter[_Factors] | None:
    """The products of a sum by their factors, with their numbers; None if they are too many. `known`: of its parts."""
    if value not in known:
        known[value] = _terms_of(value, known)
    return known[value]


def _terms_of(value: Formula, known: dict[Formula, Counter[_Factors] | None]) -> Counter[_Factors] | None:
    if value.op not in _OPERATIONS:
        number = integer_of(value)
        return Counter({(): number}) if number is not None else Counter({(value,): 1})
    found = [one for part in formulas_of(value) if (one := _terms(part, known)) is not None]
    if len(found) < len(formulas_of(value)):
        return None
    match value.op:
        case "neg":
            return Counter({factors: -number for factors, number in found[0].items()})
        case "add":
            return _sum(found)
    return _times(found)


def _sum(parts: Sequence[Counter[_Factors]]) -> Counter[_Factors] | None:
    total: Counter[_Factors] = Counter()
    for part in parts:
        for factors, number in part.items():
            total[factors] += number
    return total if len(total) <= _MOST else None


def _times(parts: Sequence[Counter[_Factors]]) -> Counter[_Factors] | None:
    found: Counter[_Factors] = Counter({(): 1})
    for part in parts:
        following: Counter[_Factors] = Counter()
        for (one, number), (other, times) in product(found.items(), part.items()):
            following[tuple(sorted((*one, *other), key=lambda factor: factor.digest))] += number * times
        found = following
        if len(found) > _MOST:
            return None
    return found


def _is_known_by_others(factors: _Factors, terms: Counter[_Factors]) -> bool:
    """Whether what is taken zero times is NULL only where other products are."""
    others = {one for other, number in terms.items() if number for one in other}
    return set(factors) <= others


def _product(store: Formulas, factors: _Factors, number: int) -> Formula:
    if not factors:
        return store.make("number", str(number))
    size = [] if abs(number) == 1 else [store.make("number", str(abs(number)))]
    whole = [*factors, *size]
    made = whole[0] if len(whole) == 1 else store.make("mul", *whole)
    return made if number >= 0 else store.make("neg", made)
