"""The order of the branches of a CASE, which counts only between those that may both be true."""

from collections.abc import Sequence
from itertools import pairwise

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import bounds_of, conjuncts_of, excludes
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, normalize_filter, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.shapes import Shapes
from whence.capture.sql.provenance.formulas import Formula, Formulas


def in_order(branches: Sequence[tuple[Formula, Formula]]) -> Sequence[tuple[Formula, Formula]]:
    """Branches in an order of their own, as far as they exclude each other: neighbours that do may change places."""
    rest, ordered = list(branches), list[tuple[Formula, Formula]]()
    if not any(excludes(one[0], other[0]) for one, other in pairwise(branches)):
        return branches
    shapes = Shapes()
    while rest:
        free = [one for place, one in enumerate(rest) if all(excludes(one[0], other[0]) for other in rest[:place])]
        ordered.append(min(free, key=lambda branch: shapes.of(branch[0])))
        rest.remove(ordered[-1])
    return ordered


def exclusive(store: Formulas, branches: Sequence[tuple[Formula, Formula]]) -> list[tuple[Formula, Formula]]:
    """Branches with what is left for each: earlier bounds of a value that it asks for do not hold in it."""
    found: list[tuple[Formula, Formula]] = []
    bounds: list[Formula] = []
    for condition, value in branches:
        own = conjuncts_of(condition)
        left = [one for one in bounds if any(rejects_null(part, next(bounds_of(one)).value) for part in own)]
        opposite = [negate(store, one) for one in left]
        rest = [one for one in own if not any(other is one or implies(other, one) for other in opposite)]
        bounds += [one for one in _alternatives(connect(store, "and", rest)) if _is_bound(one)]
        if left:
            condition = connect(store, "and", normalize_filter(store, [*own, *opposite]))
        found.append((condition, value))
    return found


def _alternatives(condition: Formula) -> list[Formula]:
    """Conditions of which none is true in later branches."""
    return formulas_of(condition) if condition.op == "or" else [condition]


def _is_bound(condition: Formula) -> bool:
    return any(True for _ in bounds_of(condition))
