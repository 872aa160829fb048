"""Decision diagrams: a function of variables that are cut into ranges, in the one form that equal functions share.

A variable asks for the place of a value on a line: below, at or above literals; whether it is NULL; how two values
compare. A node has a part for each range, without cuts that make no difference; variables have one order. (Bryant,
"Graph-based algorithms for Boolean function manipulation", 1986, with more than two branches.)
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.shapes import Shapes
from whence.capture.sql.provenance.formulas import Formula

Key = Decimal | str
Cut = tuple[Key, bool]
"""A place on the line of a variable: before a key, or after it if true."""
_LIMIT: Final = 1500
MISSING: Final = "missing"
"""The kind of variable that asks whether a value is NULL."""


class TooLargeError(Exception):
    """A diagram has more parts than is worth it; its reader leaves the formula as it is."""


@dataclass(frozen=True, slots=True)
class Variable:
    """What a node asks of values. `kind` says how its keys are meant; `place` is its place among all variables."""

    kind: str
    values: tuple[Formula, ...]
    place: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """`parts[i]` holds between `cuts[i - 1]` and `cuts[i]`."""

    variable: Variable
    cuts: tuple[Cut, ...]
    parts: "tuple[Diagram, ...]"


Diagram = Formula | Node
"""A node, or what the function gives: a formula."""


class Diagrams:
    """Makes diagrams; equal ones are one object."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[Variable, tuple[Cut, ...], tuple[int, ...]], Node] = {}
        self._work = 0
        self._shapes = Shapes()

    def variable(self, kind: str, *values: Formula) -> Variable:
        """A variable. Its place depends on what is asked, not on how the code is written; tests for NULL come first."""
        shapes = [self._shapes.of(value) for value in values]
        first = b"" if kind == MISSING else b"1"
        return Variable(kind, values, (first, *shapes, kind.encode(), *(value.digest for value in values)))

    def node(self, variable: Variable, cuts: Sequence[Cut], parts: Sequence[Diagram]) -> Diagram:
        """The diagram that gives a part for each range, wherever its parts have their variables."""
        above = [one for part in parts if (one := _root(part)) is not None and one.place < variable.place]
        if above:
            first = min(above, key=lambda one: one.place)
            merged = _cuts_of(first, parts)
            split = ([_within(part, first, merged, place) for part in parts] for place in range(len(merged) + 1))
            return self.node(first, merged, [self.node(variable, cuts, own) for own in split])
        merged = sorted({*cuts, *_cuts_of(variable, parts)})
        own = [_at(cuts, parts, merged, place) for place in _all(merged)]
        return self._make(variable, merged, [_within(one, variable, merged, place) for place, one in enumerate(own)])

    def combine(self, give: Callable[..., Diagram], *diagrams: Diagram) -> Diagram:
        """What a function gives for the results of diagrams, in each situation."""
        memo: dict[tuple[int, ...], Diagram] = {}

        def visit(several: tuple[Diagram, ...]) -> Diagram:
            key = tuple(map(id, several))
            if key not in memo:
                memo[key] = split(several)
            return memo[key]

        def split(several: tuple[Diagram, ...]) -> Diagram:
            roots = [one for part in several if (one := _root(part)) is not None]
            if not roots:
                return give(*several)
            first = min(roots, key=lambda one: one.place)
            cuts = _cuts_of(first, several)
            parts = [visit(tuple(_within(part, first, cuts, place) for part in several)) for place in _all(cuts)]
            return self.node(first, cuts, parts)

        return visit(diagrams)

    def split(self, variable: Variable, *diagrams: Diagram) -> tuple[list[Cut], list[list[Diagram]]]:
        """The cuts of a variable at the roots of diagrams, and their parts in each range."""
        cuts = _cuts_of(variable, diagrams)
        return cuts, [[_within(one, variable, cuts, place) for place in _all(cuts)] for one in diagrams]

    def _make(self, variable: Variable, cuts: Sequence[Cut], parts: Sequence[Diagram]) -> Diagram:
        self._work += 1
        if self._work > _LIMIT:
            raise TooLargeError
        kept = [place for place in range(len(cuts)) if parts[place] is not parts[place + 1]]
        if not kept:
            return parts[0]
        own, left = tuple(cuts[place] for place in kept), tuple(parts[place] for place in (*kept, len(cuts)))
        return self._nodes.setdefault((variable, own, tuple(map(id, left))), Node(variable, own, left))


def results_of(diagram: Diagram) -> Iterator[Formula]:
    """What a diagram gives, each once, in the order of its situations."""
    seen: set[int] = set()
    remaining: list[Diagram] = [diagram]
    while remaining:
        part = remaining.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Node):
            remaining += reversed(part.parts)
        else:
            yield part


def _root(diagram: Diagram) -> Variable | None:
    return diagram.variable if isinstance(diagram, Node) else None


def _all(cuts: Sequence[Cut]) -> range:
    return range(len(cuts) + 1)


def _cuts_of(variable: Variable, diagrams: Sequence[Diagram]) -> list[Cut]:
    return sorted({cut for one in diagrams if isinstance(one, Node) and one.variable == variable for cut in one.cuts})


def _within(diagram: Diagram, variable: Variable, cuts: Sequence[Cut], place: int) -> Diagram:
    """A diagram where its variable is in one range of these cuts."""
    if not isinstance(diagram, Node) or diagram.variable != variable:
        return diagram
    return _at(diagram.cuts, diagram.parts, cuts, place)


def _at(own: Sequence[Cut], parts: Sequence[Diagram], cuts: Sequence[Cut], place: int) -> Diagram:
    """The part for a range of finer cuts."""
    return parts[bisect_left(own, cuts[place])] if place < len(cuts) else parts[-1]
