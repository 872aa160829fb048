"""Values of rows for which conditions hold: what is not NULL, true or false in all of them is left out."""

from collections.abc import Collection, Sequence

from whence.capture.sql.fingerprint.block import rows_of
from whence.capture.sql.fingerprint.normal_forms.aggregates.windows import known_window, value_of_own_row
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import is_known
from whence.capture.sql.fingerprint.normal_forms.conditions.known_columns import KnownColumns
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import null_sources, null_tested
from whence.capture.sql.fingerprint.normal_forms.values.cases import are_ordered, make_case, opposite_test
from whence.capture.sql.fingerprint.normal_forms.values.texts import becomes_text, is_text, make_concat, with_separator
from whence.capture.sql.provenance.formulas import Formula, Formulas


def known_values(
    store: Formulas, conditions: Sequence[Formula], values: Sequence[Formula], sources: Collection[Formula]
) -> list[Formula]:
    """The values of rows for which the conditions hold. `sources`: those that are in every row."""
    known = KnownValues(store, conditions, sources)
    return [known.numbered(known.simplify(value)) for value in values]


class KnownValues:
    """Which values of rows are known, by the conditions that hold for them. `sources`: those that are in every row."""

    def __init__(self, store: Formulas, conditions: Sequence[Formula], sources: Collection[Formula]) -> None:
        self.store = store
        self.conditions = conditions
        self.facts = frozenset(conditions)
        self.sources = frozenset(sources)
        self.columns = KnownColumns()
        self._memo: dict[Formula, Formula] = {}

    def is_known(self, value: Formula) -> bool:
        """Whether a value is not NULL in any of the rows."""
        return all(is_known(self.conditions, one) or self._is_known_inside(one) for one in null_sources(value))

    def _is_known_inside(self, value: Formula) -> bool:
        """Whether the rows of a source have a column without NULL, or a value of the own row is in its window."""
        if (own := value_of_own_row(value)) is not None:
            return self.is_known(own)
        if value.op != "of" or value.args[0] not in self.sources:
            return False
        instance, inside = formulas_of(value)
        return self.columns.is_known(rows_of(instance), inside)

    def simplify(self, part: Formula) -> Formula:
        """A value without what says nothing in these rows."""
        if not part.is_open or part.op in ("of", "inst"):
            return part
        found = self._memo.get(part)
        if found is None:
            found = self._memo[part] = self._simplify(part)
        return found

    def _simplify(self, part: Formula) -> Formula:
        store, before = self.store, part
        part = store.rebuild(part, self.simplify)
        parts = formulas_of(part)
        match part.op:
            case "is" if (tested := null_tested(part)) is not None and self.is_known(tested):
                return store.make("boolean", "false")
            case "coalesce":
                return self._without_defaults(part, parts)
            case "case":
                return self._case(parts)
            case "least" | "greatest" if parts[0].op == "set":
                return self._extreme(part)
            case "dpipe" if all(is_text(one) or (becomes_text(one) and self.is_known(one)) for one in parts):
                return make_concat(store, parts, skips_null=True)
            case "concatws":
                values = next((one.parts for one in parts if one.op == "list"), ())
                return (with_separator(store, values, self.is_known) if values else None) or part
            case "block" if part is not before:
                return self._without_true(part)
            case "window":
                return known_window(store, part, self.is_known)
            case "and" | "or" if part is not before:
                return connect(store, part.op, parts)
            case "not" if part is not before:
                return negate(store, parts[0])
        if part.op in COMPARISONS:
            part = part if part is before else compare(store, part.op, *parts)
            return self._decided(part)
        return part

    def _without_true(self, rows: Formula) -> Formula:
        """The rows of a subquery without conditions that say nothing."""
        sources, conditions, joins = formulas_of(rows)
        true = self.store.make("boolean", "true")
        rest = self.store.make("set", *(one for one in formulas_of(conditions) if one is not true))
        return self.store.make("block", sources, rest, joins)

    def numbered(self, value: Formula) -> Formula:
        """A whole value or condition, with the number of the row for a test of LAG for NULL."""
        test = value.parts[0] if value.op == "not" else value
        tested = null_tested(test)
        found = self._as_first_rows(tested) if tested is not None else None
        if found is None:
            return value
        return found if test is value else negate(self.store, found)

    def _as_first_rows(self, tested: Formula) -> Formula | None:
        """`row_number() = 1` for `lag(x) IS NULL`, if x is not NULL in any row; None for other values."""
        source, window = tested.parts if tested.op == "of" else (None, tested)
        if source is not None and source not in self.sources:
            return None
        match window.args:
            case (Formula() as value, Formula() as distance, "lag", *rest) if window.op == "window":
                is_known = self.is_known(value) if source is None else self.columns.is_known(rows_of(source), value)
                number, last = self.store.make("window", "rownumber", *rest), integer_of(distance) or 0
                if not is_known or last < 1:
                    return None
                numbered = number if source is None else self.store.make("of", source, number)
                return compare(self.store, "eq" if last == 1 else "lte", numbered, distance)
        return None

    def _decided(self, comparison: Formula) -> Formula:
        """A comparison that the conditions decide: true or false, since it is not NULL in their rows."""
        if comparison in self.facts:
            return self.store.make("boolean", "true")
        is_false = comparison.op in COMPARISONS and negate(self.store, comparison) in self.facts
        return self.store.make("boolean", "false") if is_false else comparison

    def _without_defaults(self, value: Formula, parts: list[Formula]) -> Formula:
        for place, part in enumerate(parts):
            rest = parts[place + 1 :]
            if all(map(_is_plain_default, rest)) and self.is_known(part):
                return self.store.make("coalesce", *parts[: place + 1]) if place else part
        return value

    def _case(self, parts: list[Formula]) -> Formula:
        branches = list(zip(parts[:-1:2], parts[1:-1:2], strict=True))
        made = make_case(self.store, branches, parts[-1], self.is_known)
        inside = formulas_of(made)
        if made.op != "case" or len(inside) != 3:
            return made
        if (opposite := opposite_test(self.store, inside[0], self.is_known)) is not None:
            made = make_case(self.store, [(opposite, inside[2])], inside[1])
            inside = formulas_of(made)
        if inside[0].op == "not" and self.is_known(formulas_of(inside[0])[0]):
            return make_case(self.store, [(formulas_of(inside[0])[0], inside[2])], inside[1], self.is_known)
        is_pair = inside[0].op == "lt" and set(inside[0].args) == set(inside[1:]) and are_ordered(inside[1:])
        if is_pair and all(map(self.is_known, inside[1:])):
            name = "least" if inside[0].args[0] is inside[1] else "greatest"
            return self._extreme(self.store.make(name, self.store.make("set", *inside[1:])))
        return made

    def _extreme(self, value: Formula) -> Formula:
        """LEAST or GREATEST of values without NULL, and of two values that a condition orders."""
        values = formulas_of(formulas_of(value)[0])
        if len(values) == 2:
            for one, other in (values, values[::-1]):
                ordered = {self.store.make(name, one, other) for name in ("lt", "lte")}
                if not ordered.isdisjoint(self.facts):
                    return one if value.op == "least" else other
        if all(map(self.is_known, values)):
            return self.store.make(value.op, self.store.make("set", *values))
        return value


def _is_plain_default(value: Formula) -> bool:
    """Whether a default does not decide on the type: a number with a fraction would."""
    return value.op in ("string", "boolean") or integer_of(value) is not None
