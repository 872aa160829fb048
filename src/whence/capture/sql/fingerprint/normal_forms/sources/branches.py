"""Branches of a UNION ALL: two of the same rows behind filters that exclude each other are one behind both."""

from collections.abc import Sequence
from itertools import combinations

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import excludes
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

Branch = tuple[Formula, tuple[Formula, ...]]
"""The rows and the columns of one branch."""
_MOST: int = 12
"""More branches than this are compared as they are."""


def merge_branches(store: Formulas, branches: Sequence[Branch]) -> list[Branch]:
    """The branches without two that may be one."""
    rest = list(branches)
    while len(rest) <= _MOST:
        found = next(((pair, one) for pair in combinations(rest, 2) if (one := _merged(store, *pair))), None)
        if found is None:
            return rest
        rest = [one for one in rest if one not in found[0]]
        rest.append(found[1])
    return rest


def _merged(store: Formulas, one: Branch, other: Branch) -> Branch | None:
    """Both branches as one; None if they differ in more than one condition each, or may have the same row."""
    if one[1] != other[1] or {one[0].op, other[0].op} != {"block"}:
        return None
    (sources, first, joins), (others, second, more) = formulas_of(one[0]), formulas_of(other[0])
    if sources is not others or joins is not more:
        return None
    conditions = [set(formulas_of(first)), set(formulas_of(second))]
    own, theirs = conditions[0] - conditions[1], conditions[1] - conditions[0]
    if len(own) != 1 or len(theirs) != 1 or one[0].is_volatile:
        return None
    (left,), (right,) = own, theirs
    if not excludes(left, right):
        return None
    shared = conditions[0] & conditions[1]
    merged = store.make("set", *shared, connect(store, "or", [left, right]))
    return store.make("block", sources, merged, joins), one[1]
