"""CASE whose conditions bound one value: which value it gives for which range, whatever bounds are written."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import reduce
from typing import Final, NamedTuple

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import bounds_of
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.terms.days import is_day
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_whole_type, type_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import is_count, is_whole
from whence.capture.sql.provenance.formulas import Formula, Formulas

Branch = tuple[Formula, Formula]
Cut = tuple[Decimal, bool]
"""A place between values: before a number, or after it if true."""
_FIRST: Final[Cut] = (Decimal("-Infinity"), False)
_LAST: Final[Cut] = (Decimal("Infinity"), True)
_LEAST_VALUES: Final = 3
"""A CASE of fewer values has a normal form already."""
Range = tuple[Cut, Cut]


class _Bounded(NamedTuple):
    """The ranges of one value for which a condition is true; for NULL it is not."""

    value: Formula
    ranges: list[Range]


def case_of_ranges(
    store: Formulas, branches: Sequence[Branch], default: Formula, is_known: Callable[[Formula], bool]
) -> Formula | None:
    """The CASE with the ranges of whole numbers for each of its values, in their order; None for any other.

    NULL is in no range. If the tested value is never NULL (`is_known`), the last value needs no condition.
    """
    found = [_bounded(condition) for condition, _ in branches]
    value = found[0].value if found and found[0] is not None else None
    if value is None or not all(one is not None and one.value is value for one in found):
        return None
    if not is_whole(value) or is_day(value) or not (is_whole_type(type_of(value)) or is_count(value)):
        return None
    rest: list[Range] = [((Decimal(0), False) if is_count(value) else _FIRST, _LAST)]
    taken: list[tuple[Range, Formula]] = []
    for one, (_, result) in zip(found, branches, strict=True):
        for own in one.ranges if one is not None else ():
            taken += [(common, result) for other in rest if (common := _common(own, other)) is not None]
            rest = [part for other in rest for part in _without(other, own)]
    taken += [(one, default) for one in rest]
    merged = _merged(sorted(taken, key=lambda one: one[0]))
    is_sure = is_known(value)
    results = list(dict.fromkeys(result for _, result in merged))
    if len({*results} | (set() if is_sure else {default})) < _LEAST_VALUES:
        return None
    last = results[-1] if is_sure else default
    lowest = merged[0][0][0]
    flat = [
        part
        for result in results
        if result is not last
        for part in (_condition(store, value, [own for own, one in merged if one is result], lowest), result)
    ]
    return store.make("case", *flat, last)


def _bounded(condition: Formula) -> _Bounded | None:
    """What a comparison with a whole number, AND or OR of such bounds."""
    if condition.op in ("and", "or"):
        parts = [_bounded(part) for part in formulas_of(condition)]
        values = {None if part is None else part.value for part in parts}
        if len(values) != 1 or None in values:
            return None
        several = [part.ranges for part in parts if part is not None]
        combine = _all_common if condition.op == "and" else _either
        return _Bounded(next(part.value for part in parts if part is not None), reduce(combine, several))
    if condition.op in ("eq", "neq"):
        return _equal(condition)
    bound = next(bounds_of(condition), None)
    if bound is None or bound.is_day:
        return None
    number, is_strict = bound.tightness
    if bound.is_below:
        return _Bounded(bound.value, [(_cut(number, is_strict), _LAST)])
    return _Bounded(bound.value, [(_FIRST, _cut(-number, not is_strict))])


def _equal(condition: Formula) -> _Bounded | None:
    for value, literal in (formulas_of(condition), reversed(formulas_of(condition))):
        number = integer_of(literal)
        if number is not None and value.op != "number":
            low, high = _cut(Decimal(number), False), _cut(Decimal(number), True)
            ranges = [(low, high)] if condition.op == "eq" else [(_FIRST, low), (high, _LAST)]
            return _Bounded(value, ranges)
    return None


def _cut(number: Decimal, is_after: bool) -> Cut:
    """A cut between two whole numbers, as the one before the greater of them."""
    floor = number.to_integral_value("ROUND_FLOOR")
    return (floor + 1 if is_after or floor != number else floor), False


def _common(one: Range, other: Range) -> Range | None:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low < high else None


def _all_common(several: list[Range], others: list[Range]) -> list[Range]:
    return [found for one in several for other in others if (found := _common(one, other)) is not None]


def _either(several: list[Range], others: list[Range]) -> list[Range]:
    return [*several, *others]


def _without(whole: Range, gone: Range) -> Iterator[Range]:
    """What is left of a range without another one."""
    if (common := _common(whole, gone)) is None:
        yield whole
        return
    if whole[0] < common[0]:
        yield whole[0], common[0]
    if common[1] < whole[1]:
        yield common[1], whole[1]


def _merged(taken: Sequence[tuple[Range, Formula]]) -> list[tuple[Range, Formula]]:
    """The ranges in their order, neighbours of one value as one."""
    merged: list[tuple[Range, Formula]] = []
    for own, result in taken:
        if merged and merged[-1][1] is result and merged[-1][0][1] == own[0]:
            merged[-1] = ((merged[-1][0][0], own[1]), result)
        else:
            merged.append((own, result))
    return merged


def _condition(store: Formulas, value: Formula, ranges: Sequence[Range], lowest: Cut) -> Formula:
    return connect(store, "or", [connect(store, "and", list(_bounds(store, value, own, lowest))) for own in ranges])


def _bounds(store: Formulas, value: Formula, own: Range, lowest: Cut) -> Iterator[Formula]:
    """The bounds of a range, without the one that every value has."""
    low, high = own
    if low > lowest and low != _FIRST:
        yield store.make("lte", store.make("number", str(low[0])), value)
    if high != _LAST:
        yield store.make("lte", value, store.make("number", str(high[0] - 1)))
