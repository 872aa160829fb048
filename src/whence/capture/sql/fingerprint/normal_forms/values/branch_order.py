"""The order of the branches of a CASE, which counts only between those that may both be true."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise, product

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.provenance.formulas import COMMUTATIVE, IDEMPOTENT, Formula


def in_order(branches: Sequence[tuple[Formula, Formula]]) -> Sequence[tuple[Formula, Formula]]:
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
