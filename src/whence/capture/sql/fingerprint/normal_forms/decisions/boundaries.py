"""Where a value is the literal or the other value that it is compared with, either of them is what a diagram gives.

`CASE WHEN i > 10 THEN 10 ELSE i END` is `CASE WHEN i >= 10 THEN 10 ELSE i END`, since i is 10 at the bound. So a
literal has all of the range in which it is what the value is anyway, and of two equal values the second one stands for
both.
"""

from collections.abc import Sequence
from decimal import Decimal

from whence.capture.sql.fingerprint.normal_forms.decisions.diagrams import Cut, Diagram, Node
from whence.capture.sql.fingerprint.normal_forms.decisions.situations import DAY, NUMBER, ORDER, Situations
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, is_whole_type, type_of
from whence.capture.sql.provenance.formulas import Formula

_EQUAL = ((Decimal(0), False), (Decimal(0), True))
"""The cuts before and after the equality of two values."""


def with_boundaries(situations: Situations, diagram: Diagram) -> Diagram:
    """The diagram with one form for what it gives at its boundaries."""
    memo: dict[int, Diagram] = {}

    def visit(part: Diagram) -> Diagram:
        if not isinstance(part, Node):
            return part
        if id(part) not in memo:
            memo[id(part)] = _settled(situations, part, [visit(one) for one in part.parts])
        return memo[id(part)]

    return visit(diagram)


def _settled(situations: Situations, node: Node, parts: list[Diagram]) -> Diagram:
    values = node.variable.values
    kinds = [type_of(one) for one in values]
    if node.variable.kind == ORDER and (all(map(is_exact_type, kinds)) or {*kinds} <= {"date", "timestamp"}):
        return _of_equal(situations, node, parts)
    is_line = node.variable.kind == DAY or (node.variable.kind == NUMBER and is_exact_type(type_of(values[0])))
    cuts = _moved(node, parts) if is_line else node.cuts
    return situations.diagrams.node(node.variable, *_without_empty(cuts, parts))


def _of_equal(situations: Situations, node: Node, parts: list[Diagram]) -> Diagram:
    """Of two equal values the second one stands for both."""
    first, second = node.variable.values
    less, equal, more = (parts[sum(cut < state for cut in node.cuts)] for state in (*_EQUAL, (Decimal(1), True)))
    equal = situations.diagrams.combine(lambda one: second if one is first else one, equal)
    return situations.diagrams.node(node.variable, _EQUAL, [less, equal, more])


def _moved(node: Node, parts: Sequence[Diagram]) -> list[Cut]:
    """The cuts, at which a value begins or ends to be the literal on the other side."""
    (value,) = node.variable.values
    is_whole = node.variable.kind == DAY or is_whole_type(type_of(value))
    found = []
    for cut, below, above in zip(node.cuts, parts, parts[1:], strict=False):
        key = _key(above) if below is value else _key(below) if above is value else None
        moved = cut
        if key is not None and below is value:
            is_end = cut == ((key + 1, False) if is_whole else (key, True))
            moved = (key, False) if is_end else cut
        elif key is not None:
            is_begin = cut == (key, False)
            moved = ((key + 1, False) if is_whole else (key, True)) if is_begin else cut
        found.append(moved)
    return found


def _key(result: Diagram) -> Decimal | None:
    """The place of a literal on the line of numbers or days."""
    if not isinstance(result, Formula):
        return None
    if (number := integer_of(result)) is not None:
        return Decimal(number)
    day = date_of(result)
    return None if day is None else Decimal(day.toordinal())


def _without_empty(cuts: Sequence[Cut], parts: Sequence[Diagram]) -> tuple[list[Cut], list[Diagram]]:
    """The ranges that are left: one of a single value may have become part of another one."""
    kept, left = list[Cut](), [parts[0]]
    for cut, part in zip(cuts, parts[1:], strict=True):
        if kept and cut <= kept[-1]:
            left[-1] = part
            continue
        kept.append(cut)
        left.append(part)
    return kept, left
