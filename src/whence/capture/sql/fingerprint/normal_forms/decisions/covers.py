"""Diagrams as conditions: what is true where a diagram is, without parts that say nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import implies, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.decisions.diagrams import MISSING, Cut, Diagram, Node, Variable
from whence.capture.sql.fingerprint.normal_forms.decisions.situations import (
    DAY,
    HOLDS,
    ONE,
    ORDER,
    TEXT,
    TIMES,
    ZERO,
    Situations,
)
from whence.capture.sql.fingerprint.normal_forms.terms.days import make_date
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.provenance.formulas import Formula


@dataclass(frozen=True, slots=True)
class Cover:
    """A condition, and where it is true."""

    condition: Formula
    diagram: Diagram


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring ranges as one: the first and the last."""
    first = last = places[0]
    for place in places[1:]:
        if place != last + 1:
            yield first, last
            first = place
        last = place
    yield first, last


def _excluded_point(cuts: Sequence[Cut], places: Sequence[int]) -> Cut | None:
    """The one literal that all other ranges leave out."""
    gone = [place for place in range(len(cuts) + 1) if place not in places]
    is_point = len(gone) == 1 and 0 < gone[0] < len(cuts) and cuts[gone[0] - 1][0] == cuts[gone[0]][0]
    return cuts[gone[0]] if is_point else None


class Covers:
    """Writes diagrams as formulas."""

    def __init__(self, situations: Situations) -> None:
        self.situations = situations
        self.store = situations.store
        self.true, self.false = situations.true, situations.false

    def filter(self, diagram: Diagram) -> Formula:
        """A condition that is true where a diagram is, and false or NULL elsewhere."""
        return self._cover(diagram, diagram).condition

    def _cover(self, wanted: Diagram, allowed: Diagram) -> "Cover":
        """A condition that is true where it must be and nowhere else than it may, without parts that say nothing.

        (Minato, "Fast generation of prime-irredundant covers from binary decision diagrams", 1993.)
        """
        if wanted is self.false or allowed is self.true:
            whole = self.false if wanted is self.false else self.true
            return Cover(whole, whole)
        nodes = [one for one in (wanted, allowed) if isinstance(one, Node)]
        variable = min((one.variable for one in nodes), key=lambda one: one.place)
        cuts, (needs, bounds) = self.situations.diagrams.split(variable, wanted, allowed)
        if variable.kind == MISSING:
            return self._cover_missing(variable, cuts, needs, bounds)
        common = self._all(bounds)
        own = [self._cover(self._without(need, common), bound) for need, bound in zip(needs, bounds, strict=True)]
        rest = self._any([self._without(need, one.diagram) for need, one in zip(needs, own, strict=True)])
        shared = self._cover(rest, common)
        covered = self.situations.diagrams.node(variable, cuts, [one.diagram for one in own])
        written = self._write(variable, cuts, [one.condition for one in own])
        return Cover(self._or([*written, shared.condition]), self._any([covered, shared.diagram]))

    def _cover_missing(
        self, variable: Variable, cuts: Sequence[Cut], needs: Sequence[Diagram], bounds: Sequence[Diagram]
    ) -> "Cover":
        """What holds if a value is NULL, and if it is not: tests of NULL where the conditions do not tell."""
        (source,) = variable.values
        test = is_null(source)
        missing = self._cover(needs[1], bounds[1])
        if self._without(missing.diagram, bounds[0]) is self.false:
            present = self._cover(self._without(needs[0], missing.diagram), bounds[0])
            first, whole = missing.condition, self._any([present.diagram, missing.diagram])
        else:
            present = self._cover(needs[0], bounds[0])
            first, whole = self._and(test, missing.condition), present.diagram
        found = present.condition
        if not rejects_null(found, source) and self._without(present.diagram, bounds[1]) is not self.false:
            found = self._and(negate(self.store, test), found)
        covered = self.situations.diagrams.node(variable, cuts, [whole, missing.diagram])
        return Cover(self._or([first, found]), covered)

    def _all(self, parts: Sequence[Diagram]) -> Diagram:
        return self.situations.connect("and", parts)

    def _any(self, parts: Sequence[Diagram]) -> Diagram:
        return self.situations.connect("or", parts)

    def _without(self, one: Diagram, other: Diagram) -> Diagram:
        """Where one holds and the other one does not."""
        is_left = {(self.true, self.false)}
        return self.situations.diagrams.combine(lambda *pair: self.true if pair in is_left else self.false, one, other)

    def _or(self, parts: Sequence[Formula]) -> Formula:
        return connect(self.store, "or", parts)

    def _and(self, *parts: Formula) -> Formula:
        whole = connect(self.store, "and", parts)
        own = conjuncts_of(whole)
        kept = [one for one in own if not any(implies(other, one) for other in own if other is not one)]
        return whole if len(kept) == len(own) else connect(self.store, "and", kept)

    def _write(self, variable: Variable, cuts: Sequence[Cut], parts: Sequence[Formula]) -> list[Formula]:
        """What holds in which range of a variable."""
        groups: dict[Formula, list[int]] = {}
        for place, part in enumerate(parts):
            groups.setdefault(part, []).append(place)
        groups.pop(self.false, None)
        return [self._and(self._tests(variable, cuts, places), part) for part, places in groups.items()]

    def _tests(self, variable: Variable, cuts: Sequence[Cut], places: Sequence[int]) -> Formula:
        """Whether a variable is in one of several ranges."""
        if variable.kind == HOLDS:
            (condition,) = variable.values
            return self._or([condition if place else negate(self.store, condition) for place in places])
        if variable.kind == ORDER:
            return self._ordered(variable, cuts, places)
        if variable.kind == TEXT:
            return self._texts(variable, cuts, places)
        ends = [None, *cuts, None]
        if (point := _excluded_point(cuts, places)) is not None:
            (value,) = variable.values
            return compare(self.store, "neq", value, self._literal(variable.kind, point))
        return self._or([self._range(variable, ends[first], ends[last + 1]) for first, last in _runs(places)])

    def _ordered(self, variable: Variable, cuts: Sequence[Cut], places: Sequence[int]) -> Formula:
        one, other = variable.values
        states = [(ZERO, False), (ZERO, True)]
        held = [sum(cut < state for cut in cuts) in places for state in (*states, (ONE, True))]
        match held:
            case [True, False, False]:
                return compare(self.store, "lt", one, other)
            case [False, True, False]:
                return compare(self.store, "eq", one, other)
            case [False, False, True]:
                return compare(self.store, "lt", other, one)
            case [True, True, False]:
                return compare(self.store, "lte", one, other)
            case [False, True, True]:
                return compare(self.store, "lte", other, one)
            case [True, False, True]:
                return compare(self.store, "neq", one, other)
        return self.true

    def _texts(self, variable: Variable, cuts: Sequence[Cut], places: Sequence[int]) -> Formula:
        """The texts of the ranges: some, or all but some."""
        points = {place + 1: str(cut[0]) for place, cut in enumerate(cuts) if not cut[1]}
        is_rest = 0 in places
        op = "neq" if is_rest else "eq"
        (value,) = variable.values
        texts = [text for place, text in points.items() if (place in places) is not is_rest]
        tests = [compare(self.store, op, value, self.store.make("string", text)) for text in texts]
        return self._and(*tests) if is_rest else self._or(tests)

    def _range(self, variable: Variable, low: Cut | None, high: Cut | None) -> Formula:
        (value,) = variable.values
        if low is not None and high is not None and low[0] == high[0]:
            return compare(self.store, "eq", value, self._literal(variable.kind, low))
        bounds = []
        if low is not None:
            bounds.append(compare(self.store, "lt" if low[1] else "lte", self._literal(variable.kind, low), value))
        if high is not None:
            bounds.append(compare(self.store, "lte" if high[1] else "lt", value, self._literal(variable.kind, high)))
        return self._and(*bounds)

    def _literal(self, kind: str, cut: Cut) -> Formula:
        if kind == DAY:
            return make_date(self.store, date.fromordinal(int(cut[0])))
        if kind == TIMES:
            return self.store.make("cast", self.store.make("string", str(cut[0])), self.store.make("type", "timestamp"))
        return self.store.make("number", str(cut[0]))
