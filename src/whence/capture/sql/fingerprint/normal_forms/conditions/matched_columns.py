"""Columns of a source to which a condition gives one value at most: those that a row is found by."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from whence.capture.sql.fingerprint.block import instances_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.sides import without_shift
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_tested
from whence.capture.sql.provenance.formulas import Formula


def matched_column(condition: Formula, instance: Formula) -> Formula | None:
    """The column of a source that equals one value of other sources, or one literal. None for any other condition.

    A value with a default, as in `column = coalesce(x, 'EUR')`, is one of several, of which one is there at a time.
    """
    if condition.op == "or":
        branches = formulas_of(condition)
        columns = {_of_branch(one, instance) for one in branches}
        is_one = len(columns) == 1 and all(_exclude(instance, *pair) for pair in combinations(branches, 2))
        return columns.pop() if is_one else None
    sides = formulas_of(condition) if condition.op == "eq" else []
    for column, other in (sides, sides[::-1]) if len(sides) == 2 else ():
        if instances_of(column) == {instance} and instance not in instances_of(other):
            return without_shift(column)
    return None


def _of_branch(condition: Formula, instance: Formula) -> Formula | None:
    columns = (matched_column(one, instance) for one in _equalities(_conjuncts(condition)))
    return next((one for one in columns if one is not None), None)


def _equalities(conditions: Sequence[Formula]) -> Iterator[Formula]:
    """`a = b`, also where it says `a <= b AND b <= a`."""
    for one in conditions:
        make = one.store.make
        if one.op == "eq" or (one.op == "lte" and make("lte", *reversed(one.args)) in conditions):
            yield make("eq", *one.args)


def _conjuncts(condition: Formula) -> list[Formula]:
    return formulas_of(condition) if condition.op == "and" else [condition]


def _exclude(instance: Formula, one: Formula, other: Formula) -> bool:
    """Whether a value of other sources must be NULL for one of two conditions, and not NULL for the other."""
    return _wants_null(instance, one, other) or _wants_null(instance, other, one)


def _wants_null(instance: Formula, one: Formula, other: Formula) -> bool:
    tested = filter(None, map(null_tested, _conjuncts(one)))
    return any(instance not in instances_of(value) and rejects_null(other, value) for value in tested)
