"""The one form of a CASE, a default or a filter: what it decides in each situation, whatever it is written with."""

from collections.abc import Iterator, Sequence

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import conjuncts_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import normalize_filter, rejects_null
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, connect, is_condition
from whence.capture.sql.fingerprint.normal_forms.decisions.boundaries import with_boundaries
from whence.capture.sql.fingerprint.normal_forms.decisions.calls import (
    CALLED,
    COMPUTED,
    has_one_type,
    is_chosen,
    is_extreme_of_ordered,
    values_of,
)
from whence.capture.sql.fingerprint.normal_forms.decisions.covers import Covers
from whence.capture.sql.fingerprint.normal_forms.decisions.diagrams import (
    MISSING,
    Diagram,
    Node,
    TooLargeError,
    results_of,
)
from whence.capture.sql.fingerprint.normal_forms.decisions.joined_rows import with_rows
from whence.capture.sql.fingerprint.normal_forms.decisions.joined_values import joined_value
from whence.capture.sql.fingerprint.normal_forms.decisions.situations import Situations
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null_with, not_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_boolean, is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.provenance.formulas import BINDERS, Formula, Formulas

_LONGEST = 60
"""A formula with more parts than this is left as it is."""
_COMPOSED = frozenset({"case", "coalesce", "or", "nullsafeneq"})
_TRUTHS = COMPARISONS | {"and", "or"}
_DECIDED = frozenset({"case", "coalesce", "least", "greatest", *CALLED, *COMPUTED, *_TRUTHS})
_MOST_BRANCHES = 25
"""A long CASE with more conditions and values than this is left as it is."""
_MOST_RESULTS = 8
"""A number that is computed in more ways is left as it is."""
_TESTS = COMPARISONS | {"and", "or", "not", "is", "nullsafeeq", "nullsafeneq"}


def decide_values(store: Formulas, values: Sequence[Formula], known: Sequence[Formula] = ()) -> list[Formula]:
    """Values of a complete query, each CASE and default in them in its one form. `known`: what its rows satisfy."""
    written = _Decisions(store, known)
    return [written.rewrite(value) for value in values]


def decide_filter(store: Formulas, conditions: Sequence[Formula]) -> list[Formula]:
    """The conditions of a filter. Those that ask for the same values are decided together."""
    written = _Decisions(store)
    groups = list(written.groups(conditions))
    others = [[one for other in groups if other is not group for one in other] for group in groups]
    return [part for group, known in zip(groups, others, strict=True) for part in written.filter(group, known)]


def are_apart(store: Formulas, one: Formula, other: Formula) -> bool:
    """Whether no row satisfies both conditions, in any situation of the values that they test."""
    parts = [*conjuncts_of(one), *conjuncts_of(other)]
    if any(part.is_volatile for part in parts) or sum(part.size for part in parts) > _LONGEST:
        return False
    return _Decisions(store).filter_together(parts) == [store.make("boolean", "false")]


def decide_join(store: Formulas, conditions: Sequence[Formula], known: Sequence[Formula]) -> list[Formula]:
    """Simplify the conditions of an outer join by what its left rows satisfy.

    `known`: the conditions of WHERE on these rows. The conditions are returned unchanged if `known` simplifies nothing.
    """
    facts = frozenset(decide_filter(store, known))
    alone, together = decide_filter(store, conditions), decide_filter(store, [*conditions, *facts])
    found = [one for one in together if one not in facts]
    is_news = facts <= {*together} and {*found} != {*alone}.difference(facts)
    return found if is_news else [*conditions]


class _Decisions:
    def __init__(self, store: Formulas, known: Sequence[Formula] = ()) -> None:
        self.store = store
        self.known = tuple(known)
        self._memo: dict[Formula, Formula] = {}

    def rewrite(self, formula: Formula) -> Formula:
        """A value, with what it contains."""
        if formula.op in BINDERS or not formula.args:
            return formula
        found = self._memo.get(formula)
        if found is None:
            whole = self._decided(formula)
            if whole is None:
                whole = self._parts_rewritten(self._decided_as_long(formula) or formula)
            found = self._memo[formula] = whole
        return found

    def _parts_rewritten(self, formula: Formula) -> Formula:
        """A value with its parts in their form; the conditions of a CASE are filters."""
        if formula.op != "case":
            return self.store.rebuild(formula, self.rewrite)
        *branches, default = formulas_of(formula)
        changed = [
            self._condition(part) if place % 2 == 0 else self.rewrite(part) for place, part in enumerate(branches)
        ]
        return self.store.make("case", *changed, self.rewrite(default))

    def _decided_as_long(self, formula: Formula) -> Formula | None:
        """A long CASE, of which what is chosen in its parts is read as a column would be."""
        is_long = formula.op == "case" and formula.size > _LONGEST and len(formula.args) <= _MOST_BRANCHES
        if not is_long or formula.is_volatile:
            return None
        key = (self.store.dialect, "long", formula, self.known)
        found = self.store.decided.get(key, key)
        if found is key:
            found = self.store.decided[key] = self._decide(formula, Situations(self.store, formula))
        return found if isinstance(found, Formula) else None

    def _condition(self, condition: Formula) -> Formula:
        if not _is_worth(condition):
            return self.rewrite(condition)
        return connect(self.store, "and", self.filter([condition], self.known))

    def _decided(self, formula: Formula) -> Formula | None:
        """A CASE or default of more than one simple test."""
        if formula.op not in _DECIDED or not _is_worth(formula):
            return None
        key = (self.store.dialect, formula, self.known)
        found = self.store.decided.get(key, key)
        if found is key:
            found = self.store.decided[key] = self._decide(formula, Situations(self.store))
        return found if isinstance(found, Formula) else None

    def _decide(self, formula: Formula, situations: Situations) -> Formula | None:
        try:
            is_truth = _is_truth(formula)
            read = situations.condition if is_truth else situations.value
            diagram = with_rows(situations, _where_known(situations, read(formula), self.known))
            diagram = _settle(situations, with_boundaries(situations, diagram))
            return (_truth(situations, diagram) if is_truth else None) or _written(situations, diagram, formula)
        except TooLargeError:
            return None

    def groups(self, conditions: Sequence[Formula]) -> Iterator[list[Formula]]:
        """Conditions that share a value with one that is composed, together."""
        tested_values = {one: _tested_values(one) for one in conditions if not _is_join(one)}
        rest = list(dict.fromkeys(conditions))
        while rest:
            group = [rest.pop(0)]
            for one in group:
                for other in [part for part in rest if tested_values.get(part, set()) & tested_values.get(one, set())]:
                    if _is_composed(one) or _is_composed(other) or set(one.args) == set(other.args):
                        rest.remove(other)
                        group.append(other)
            yield group

    def filter(self, group: Sequence[Formula], known: Sequence[Formula]) -> list[Formula]:
        """One group of conditions. `known`: the others, which may want values that are not NULL."""
        if (len(group) == 1 and not _is_composed(group[0])) or any(one.is_volatile for one in group):
            return [*group]
        key = (self.store.dialect, tuple(group), tuple(known))
        found = self.store.decided.get(key)
        if not isinstance(found, tuple):
            found = self.store.decided[key] = tuple(self._decide_filter(group, known))
        return [*found]

    def filter_together(self, conditions: Sequence[Formula]) -> list[Formula]:
        """All of these conditions in one decision."""
        return self._decide_filter(conditions, ())

    def _decide_filter(self, group: Sequence[Formula], known: Sequence[Formula]) -> list[Formula]:
        situations = Situations(self.store)
        try:
            whole = _where_known(situations, situations.filter(self.store.connect("and", group)), known)
            whole = with_rows(situations, whole)
            return normalize_filter(self.store, [Covers(situations).filter(whole)])
        except TooLargeError:
            return [*group]


def _is_truth(formula: Formula) -> bool:
    """Whether a value is true, false or NULL, and made of conditions and columns of that type."""
    values = [one for one in values_of(formula) if one.op != "null"]
    return bool(values) and all(is_condition(one) or is_boolean(one) for one in values)


def _is_worth(formula: Formula) -> bool:
    if formula.is_volatile or formula.size > _LONGEST:
        return False
    parts = formulas_of(formula)
    if formula.op in ("least", "greatest"):
        return is_extreme_of_ordered(formula) and (len(formula.args) > 1 or any(map(_is_composed, parts[0].parts)))
    if formula.op == "coalesce" and parts[-1].op == "boolean" and _is_truth(formula):
        return True
    if formula.op == "coalesce" and not any(part.op in COMPUTED for part in parts):
        is_any = any(part.op in ("case", "coalesce", "least", "greatest", "abs") for part in parts)
        return is_any or any(joined_value(part) is not None for part in parts)
    if formula.op in ("and", "or"):
        return any(part.op == "is" or not_null(part) is not None or _is_composed(part) for part in parts)
    if formula.op in CALLED:
        return is_chosen(formula)
    return formula.op in ("case", "coalesce") or any(map(_is_composed, parts))


def _is_join(condition: Formula) -> bool:
    return condition.op == "eq" and not any(is_literal(part) for part in formulas_of(condition))


def _is_composed(condition: Formula) -> bool:
    """Whether a condition is made of several tests, or of values that are decided."""
    if condition.op in _COMPOSED or joined_value(condition) is not None:
        return True
    return condition.op in (*_TESTS, *COMPUTED, *CALLED) and any(map(_is_composed, formulas_of(condition)))


def _tested_values(condition: Formula) -> set[Formula]:
    """The values that a condition asks for."""
    if condition.op in _TESTS or condition.op in ("case", "coalesce", "bag", *COMPUTED, *CALLED):
        return {one for part in formulas_of(condition) for one in _tested_values(part)}
    return set() if condition.op in ("number", "string", "null", "boolean", "cast") else {condition}


def _where_known(situations: Situations, diagram: Diagram, known: Sequence[Formula]) -> Diagram:
    """The diagram for values that conditions do not allow to be NULL."""
    if not isinstance(diagram, Node):
        return diagram
    parts = [_where_known(situations, part, known) for part in diagram.parts]
    is_test = diagram.variable.kind == MISSING
    if is_test and any(rejects_null(one, diagram.variable.values[0]) for one in known):
        return parts[0]
    return situations.diagrams.node(diagram.variable, diagram.cuts, parts)


def _settle(situations: Situations, diagram: Diagram) -> Diagram:
    """The diagram in which a value that is missing is NULL."""
    if not isinstance(diagram, Node):
        return diagram
    parts = [_settle(situations, part) for part in diagram.parts]
    if diagram.variable.kind == MISSING:
        (source,) = diagram.variable.values

        def missing(one: Formula) -> Formula:
            return situations.null if is_null_with(one, source) else one

        without = situations.diagrams.combine(missing, parts[1])
        parts[1] = without if without is parts[1] else _settle(situations, without)
        is_null_anyway = all(one is situations.null or is_null_with(one, source) for one in results_of(parts[0]))
        if parts[1] is situations.null and is_null_anyway:
            return parts[0]
    return situations.diagrams.node(diagram.variable, diagram.cuts, parts)


def _written(situations: Situations, diagram: Diagram, before: Formula) -> Formula | None:
    """A CASE with one condition for each of its values; None if its type might be another one."""
    results = list(results_of(diagram))
    if before.op in COMPUTED and len(results) > _MOST_RESULTS:
        return None
    if not _has_same_type(before, results):
        return None
    last = situations.null if situations.null in results else _of_missing(diagram)
    branches = [(_gives(situations, diagram, one), one) for one in results if one is not last]
    return make_case(situations.store, branches, last)


def _truth(situations: Situations, diagram: Diagram) -> Formula | None:
    """A condition that is true, false and NULL where a diagram is; None if it takes a CASE."""
    condition = _gives(situations, diagram, situations.true)
    return condition if situations.condition(condition) == diagram else None


def _gives(situations: Situations, diagram: Diagram, result: Formula) -> Formula:
    """The condition for one of the values of a diagram."""
    true, false = situations.true, situations.false
    wanted = situations.diagrams.combine(lambda one: true if one is result else false, diagram)
    return Covers(situations).filter(wanted)


def _of_missing(diagram: Diagram) -> Formula:
    """What a diagram gives if nothing is known: the default of its CASE."""
    while isinstance(diagram, Node):
        diagram = diagram.parts[-1 if diagram.variable.kind == MISSING else 0]
    return diagram


def _has_same_type(before: Formula, results: Sequence[Formula]) -> bool:
    """Whether no value is gone that decided on the type of all."""
    found = [one for one in results if one.op != "null"]
    if before.op in CALLED or (before.op in COMPUTED and len(found) == 1 and has_one_type(before)):
        return True
    gone = [one for one in values_of(before) if one not in results and one.op != "null"]
    kinds = {_kind_of(one) for one in found}
    if before.store.dialect == "duckdb" and before.op in COMPUTED and is_exact_type(type_of(before)):
        return all(map(is_exact_type, kinds))  # DuckDB divides whole numbers as it does decimals
    return all(_kind_of(one) and kinds == {_kind_of(one)} for one in gone)


def _kind_of(value: Formula) -> str:
    """The type of a value. How many digits a decimal has is compared beside formulas."""
    found = type_of(value)
    return "decimal" if found.startswith("decimal") else found
