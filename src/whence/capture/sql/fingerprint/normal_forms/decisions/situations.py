"""Formulas as diagrams: in which situations a condition holds, and which value a CASE or a default gives."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from operator import eq, le, lt, ne
from typing import Any, Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import counts_each_row
from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import number_of
from whence.capture.sql.fingerprint.normal_forms.conditions.conjuncts import STRICT_CONDITIONS
from whence.capture.sql.fingerprint.normal_forms.conditions.known_columns import KnownColumns
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, compare
from whence.capture.sql.fingerprint.normal_forms.conditions.sides import without_step
from whence.capture.sql.fingerprint.normal_forms.decisions.calls import (
    CALLED,
    COMPUTED,
    is_chosen,
    is_extreme_of_ordered,
)
from whence.capture.sql.fingerprint.normal_forms.decisions.diagrams import MISSING, Cut, Diagram, Diagrams, Key
from whence.capture.sql.fingerprint.normal_forms.decisions.joined_values import joined_value
from whence.capture.sql.fingerprint.normal_forms.terms.days import TIME, date_of, is_day
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_never_null, is_total, null_sources, null_tested
from whence.capture.sql.fingerprint.normal_forms.terms.signs import minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, is_whole_type, rows_behind, type_of
from whence.capture.sql.fingerprint.normal_forms.terms.whole_numbers import is_count, is_whole, limits_of
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.provenance.formulas import Formula, Formulas

NUMBER, DAY, TIMES, TEXT, ORDER, HOLDS = "number", "day", "time", "text", "order", "holds"
ZERO, ONE = Decimal(0), Decimal(1)
_EXACT_TEXTS: Final = frozenset({"duckdb", "spark", "databricks", "postgres", "snowflake", "bigquery", "redshift"})
"""Dialects in which two different texts without blanks at their end are never equal."""
_READ_ANYWAY: Final = COMPARISONS | {"and", "or", "not", "is"}
_ARITHMETIC: Final = frozenset({"add", "neg"})
_COMPUTED: Final[dict[str, Callable[[Any, Any], bool]]] = {"eq": eq, "neq": ne, "lt": lt, "lte": le}
_SURE_QUOTIENTS: Final = frozenset({"duckdb", "postgres"})
"""Dialects in which a quotient of numbers that has too many digits is an error, and not NULL."""
_SEVERAL: Final = frozenset({"tuple", "any", "all", "some", "row", "struct"})
"""What is compared part by part, or with several values."""
_LAST_DAY: Final = (Decimal(date.max.toordinal()), False)


class Situations:
    """Reads formulas of one comparison as diagrams. Raises TooLargeError.

    `whole`: a long formula, of which what is chosen inside of it is read as a column would be.
    """

    def __init__(self, store: Formulas, whole: Formula | None = None) -> None:
        self.store = store
        self.whole = whole
        self.diagrams = Diagrams()
        self.columns = KnownColumns()
        self.true, self.false = (store.make("boolean", text) for text in ("true", "false"))
        self.null = store.make("null")

    def condition(self, formula: Formula) -> Diagram:
        """True, false or NULL in each situation."""
        return self.diagrams.combine(self._as_condition, self.value(formula))

    def filter(self, formula: Formula) -> Diagram:
        """True or false in each situation: NULL is false."""
        return self.diagrams.combine(lambda one: self.true if one is self.true else self.false, self.condition(formula))

    def value(self, formula: Formula) -> Diagram:
        """What a formula gives in each situation."""
        if self.whole not in (None, formula) and formula.op not in _READ_ANYWAY:
            return formula
        parts = formulas_of(formula)
        match formula.op:
            case "and" | "or":
                return self.connect(formula.op, [self.condition(part) for part in parts])
            case "not":
                return self.diagrams.combine(self._negate, self.condition(parts[0]))
            case "case":
                return self._case(parts)
            case "coalesce":
                return self._coalesce([self.value(part) for part in parts])
            case "least" | "greatest" if is_extreme_of_ordered(formula):
                return self._extreme(formula)
            case "abs" if is_exact_type(type_of(parts[0])):
                return self.diagrams.combine(self._absolute, self.value(parts[0]))
            case "is" if (tested := null_tested(formula)) is not None:
                return self._test_null(self.value(tested))
            case "is" if len(parts) == 2 and (self.true in parts or self.false in parts):
                return self._test(parts)
            case "of" if (joined := joined_value(formula)) is not None:
                return self.choose(self.is_missing(joined.key), self.null, self.value(joined.value))
            case "nullsafeeq" | "nullsafeneq" if len(pair := formulas_of(parts[0])) == 2:
                return self._null_safe(formula.op == "nullsafeeq", *pair)
        if formula.op in COMPARISONS:
            sides = [self._side(part) for part in parts]
            return self.diagrams.combine(lambda *pair: self._compare(formula.op, *pair), *sides)
        is_nested = formula.op in COMPUTED and any(part.op in COMPUTED for part in parts)
        if is_nested or (formula.op in COMPUTED | CALLED and is_chosen(formula)):
            return self.diagrams.combine(lambda *values: self._computed(formula, values), *map(self.value, parts))
        return self._without_zeros(formula) if is_exact_type(type_of(formula)) else formula

    def is_missing(self, value: Formula) -> Diagram:
        """Whether a value is NULL."""
        if value.op == "null":
            return self.true
        if value.op == "div" and self.store.dialect in _SURE_QUOTIENTS and all(map(_is_exact, formulas_of(value))):
            return self._has_no_quotient(value)
        tests = [self._split(MISSING, one) for one in null_sources(value) if not self._is_always_there(one)]
        return self.connect("or", tests)

    def _is_always_there(self, value: Formula) -> bool:
        """Whether a column of a source that no outer join may miss is never NULL, as a count."""
        if value.op != "of":
            return False
        source, inside = formulas_of(value)
        rows = formulas_of(source)[0] if source.op == "src" else None
        while rows is not None and rows.op == "label":
            rows = next(iter(formulas_of(rows)), None)
        if rows is None or rows.op in ("joined", "side", "provisional"):
            return False
        is_counted = is_never_null(formulas_of(inside)[0] if inside.args[:1] == ("over",) else inside)
        return is_counted or self.columns.is_known(rows, inside)

    def _has_no_quotient(self, value: Formula) -> Diagram:
        """Whether a quotient is NULL: if a side is; what it is for a divisor of zero depends on the database."""
        numerator, divisor = formulas_of(value)
        is_zero = self.filter(compare(self.store, "eq", divisor, self.store.make("number", "0")))
        missing = self.connect("or", [self.is_missing(numerator), self.is_missing(divisor)])
        return self.choose(missing, self.true, self.choose(is_zero, self._split(MISSING, value), self.false))

    def choose(self, condition: Diagram, then: Diagram, otherwise: Diagram) -> Diagram:
        """The one diagram where a condition is true, else the other one."""
        return self.diagrams.combine(
            lambda wanted, one, other: one if wanted is self.true else other, condition, then, otherwise
        )

    def connect(self, op: str, parts: Sequence[Diagram]) -> Diagram:
        """AND or OR of conditions, which may be NULL."""
        decisive, neutral = (self.false, self.true) if op == "and" else (self.true, self.false)

        def both(one: Formula, other: Formula) -> Formula:
            if decisive in (one, other):
                return decisive
            return neutral if one is other is neutral else self.null

        found: Diagram = neutral
        for part in parts:
            found = self.diagrams.combine(both, found, part)
        return found

    def _negate(self, one: Formula) -> Formula:
        return {self.true: self.false, self.false: self.true}.get(one, one)

    def _case(self, parts: list[Formula]) -> Diagram:
        found = self.value(parts[-1])
        for condition, value in reversed(list(zip(parts[:-1:2], parts[1:-1:2], strict=True))):
            found = self.choose(self.filter(condition), self.value(value), found)
        return found

    def _coalesce(self, parts: list[Diagram]) -> Diagram:
        found = parts[-1]
        for part in reversed(parts[:-1]):
            found = self.choose(self._test_null(part), found, part)
        return found

    def _extreme(self, formula: Formula) -> Diagram:
        """The least or the greatest of values that are not NULL."""
        may_be_missing = len(formula.args) > 1

        def one_of(one: Formula, other: Formula) -> Diagram:
            if self.null in (one, other):
                return other if one is self.null else one
            order = (one, other) if formula.op == "least" else (other, one)
            found = self.choose(self._compare("lt", *order), one, other)
            if not may_be_missing:
                return found
            return self.choose(self.is_missing(one), other, self.choose(self.is_missing(other), one, found))

        found, *rest = map(self.value, formulas_of(formulas_of(formula)[0]))
        for value in rest:
            found = self.diagrams.combine(one_of, found, value)
        return found

    def _absolute(self, value: Formula) -> Diagram:
        if value is self.null:
            return value
        return self.choose(self._compare("lt", value, self.store.make("number", "0")), minus(self.store, value), value)

    def _test_null(self, value: Diagram) -> Diagram:
        return self.diagrams.combine(self.is_missing, value)

    def _test(self, parts: list[Formula]) -> Diagram:
        """IS TRUE and IS FALSE."""
        wanted = next(part for part in parts if part in (self.true, self.false))
        rest = next((part for part in parts if part is not wanted), wanted)
        return self.diagrams.combine(lambda one: self.true if one is wanted else self.false, self.condition(rest))

    def _null_safe(self, is_equal: bool, one: Formula, other: Formula) -> Diagram:
        left, right = self.value(one), self.value(other)
        same = self.diagrams.combine(lambda *pair: self._compare("eq", *pair), left, right)
        missing = [self._test_null(side) for side in (left, right)]
        found = self.choose(self.connect("or", missing), self.connect("and", missing), same)
        return found if is_equal else self.diagrams.combine(self._negate, found)

    def _side(self, value: Formula) -> Diagram:
        """One side of a comparison, where the type of a sum does not matter."""
        if value.op not in _ARITHMETIC:
            return self.diagrams.combine(self._without_zero, self.value(value))
        return self.diagrams.combine(lambda *parts: self._add(value.op, parts), *map(self._side, formulas_of(value)))

    def _without_zero(self, value: Formula) -> Formula:
        return self._add(value.op, formulas_of(value)) if value.op in _ARITHMETIC else value

    def _add(self, op: str, parts: Sequence[Formula]) -> Formula:
        zero = self.store.make("number", "0")
        if self.null in parts:
            return self.null
        rest = [part for part in parts if part is not zero]
        return self.store.make(op, *rest) if len(rest) > 1 or (rest and op == "neg") else (rest or [zero])[0]

    def _computed(self, formula: Formula, values: Sequence[Formula]) -> Diagram:
        """A number that is computed from other values."""
        if self.null in values:
            return self.null
        found = dict(zip(formulas_of(formula), values, strict=True))
        result = rebuild(self.store, formula, lambda part: found[part])
        return self._without_zeros(result) if is_exact_type(type_of(result)) else result

    def _without_zeros(self, value: Formula) -> Diagram:
        """A sum without zeros in it; a product with one is zero, unless another factor is NULL."""
        zero = self.store.make("number", "0")
        if value.op == "add":
            return self._add("add", formulas_of(value))
        if value.op != "mul" or zero not in value.args:
            return value
        return self.choose(self.is_missing(value), self.null, zero)

    def _compare(self, op: str, one: Formula, other: Formula) -> Diagram:
        if self.null in (one, other):
            return self.null
        if is_literal(one) and is_literal(other) and (known := self._compare_literals(op, one, other)) is not None:
            return known
        found = compare(self.store, op, one, other)
        return self._as_condition(found)

    def _compare_literals(self, op: str, one: Formula, other: Formula) -> Formula | None:
        """A comparison of two literals of one kind; of texts whether they are the same."""
        keys = self._key(one, one), self._key(other, other)
        if keys[0] is None or keys[1] is None or keys[0][0] != keys[1][0]:
            return None
        if keys[0][0] == TEXT and op not in ("eq", "neq"):
            return None
        return self.true if _COMPUTED[op](keys[0][1], keys[1][1]) else self.false

    def _as_condition(self, formula: Formula) -> Diagram:
        """A condition that is not made of others, or a value that is used as one."""
        if formula in (self.true, self.false, self.null):
            return formula
        if formula.op in COMPARISONS and not any(part.op in _SEVERAL for part in formulas_of(formula)):
            return self._unless_missing(formulas_of(formula), self._compared(formula))
        if formula.op in ("and", "or", "not"):
            parts = [self._as_condition(part) for part in formulas_of(formula)]
            is_negated = formula.op == "not"
            return self.diagrams.combine(self._negate, parts[0]) if is_negated else self.connect(formula.op, parts)
        if formula.op == "is" and (tested := null_tested(formula)) is not None:
            return self.is_missing(tested)
        holds = self._split(HOLDS, formula)
        if is_total(formula):
            return holds
        is_strict = formula.op in STRICT_CONDITIONS and len(formula.args) == 2
        return self._unless_missing(formulas_of(formula) if is_strict else [formula], holds)

    def _unless_missing(self, values: Sequence[Formula], found: Diagram) -> Diagram:
        for value in values:
            found = self.choose(self.is_missing(value), self.null, found)
        return found

    def _compared(self, condition: Formula) -> Diagram:
        """A comparison of two values that are not NULL."""
        one, other = formulas_of(condition)
        literal, value = (one, other) if is_literal(one) else (other, one)
        key = self._key(literal, value) if is_literal(literal) and not is_literal(value) else None
        if key is None or (key[0] == TEXT and condition.op not in ("eq", "neq")):
            return self._ordered(condition.op, one, other)
        before, after = self._cuts(value, *key)
        low, high = (self.false, self.true) if literal is one else (self.true, self.false)
        match condition.op:
            case "eq":
                return self._line(key[0], value, [before, after], [self.false, self.true, self.false])
            case "neq":
                return self._line(key[0], value, [before, after], [self.true, self.false, self.true])
            case "lt":
                return self._line(key[0], value, [after if literal is one else before], [low, high])
        return self._line(key[0], value, [before if literal is one else after], [low, high])

    def _line(self, kind: str, value: Formula, cuts: Sequence[Cut], parts: Sequence[Diagram]) -> Diagram:
        """What holds in the ranges of a value. A count is not negative, and no day is after the year 9999."""
        least, greatest = limits_of(value) if kind == NUMBER else (None, None)
        least = 1 if least == 0 and _counts_rows(value) else least
        last = _LAST_DAY if kind == DAY else None if greatest is None else (Decimal(greatest), False)
        gone = 0 if least is None else sum(cut <= (Decimal(least), False) for cut in cuts)
        kept = len(cuts) - (0 if last is None else sum(cut > last for cut in cuts))
        return self.diagrams.node(self.diagrams.variable(kind, value), cuts[gone:kept], parts[gone : kept + 1])

    def _key(self, literal: Formula, value: Formula) -> tuple[str, Key] | None:
        """The place of a literal among others, and on which line."""
        if literal.op == "number":
            number = number_of(literal)
            return (NUMBER, number) if number is not None else None
        if literal.op == "string":
            text = str(literal.args[0])
            is_exact = self.store.dialect in _EXACT_TEXTS and text == text.rstrip()
            return (TEXT, text) if is_exact and type_of(value) in ("", "text") else None
        if (day := date_of(literal)) is not None:
            return (DAY, Decimal(day.toordinal())) if is_day(value) else None
        inside, kind = formulas_of(literal) if literal.op == "cast" else (literal, literal)
        text = str(inside.args[0]) if inside.op == "string" else ""
        is_time = kind is self.store.make("type", "timestamp") and type_of(value) == "timestamp"
        return (TIMES, text) if is_time and TIME.fullmatch(text) else None

    def _cuts(self, value: Formula, kind: str, key: Key) -> tuple[Cut, Cut]:
        """The cuts before and after a literal; of whole numbers and days before the next one."""
        is_number = is_whole(value) and (is_whole_type(type_of(value)) or is_count(value))
        is_steps = kind == DAY or (kind == NUMBER and is_number)
        if not is_steps or not isinstance(key, Decimal):
            return (key, False), (key, True)
        floor = key.to_integral_value("ROUND_FLOOR")
        return ((floor if floor == key else floor + 1), False), (floor + 1, False)

    def _ordered(self, op: str, one: Formula, other: Formula) -> Diagram:
        if one is other:
            return self.true if op in ("eq", "lte") else self.false
        op, one, other = without_step(self.store, op, one, other)
        is_turned = self.diagrams.variable(ORDER, other).place < self.diagrams.variable(ORDER, one).place
        pair = (other, one) if is_turned else (one, other)
        less, equal, more = op in ("lt", "lte", "neq"), op in ("lte", "eq"), op == "neq"
        states = (more, equal, less) if is_turned else (less, equal, more)
        parts = [self.true if holds else self.false for holds in states]
        return self.diagrams.node(self.diagrams.variable(ORDER, *pair), [(ZERO, False), (ZERO, True)], parts)

    def _split(self, kind: str, value: Formula) -> Diagram:
        return self.diagrams.node(self.diagrams.variable(kind, value), [(ZERO, True)], [self.false, self.true])


def _is_exact(value: Formula) -> bool:
    return is_exact_type(type_of(value))


def _counts_rows(value: Formula) -> bool:
    """Whether a number of rows is that of a group, which has one at least."""
    rows = rows_behind(formulas_of(value)[0]) if value.op == "of" else None
    if rows is None or rows.op != "group":
        return False
    keys = rows.args[1]
    is_keyed = isinstance(keys, Formula) and keys.op == "set" and bool(keys.args)
    return is_keyed and counts_each_row(formulas_of(value)[1], formulas_of(rows)[0])
