"""Aggregates that only ask whether a group has a row for which a condition is true, as numbers of such rows.

`some(c)` is `count(*) FILTER (WHERE c) >= 1`: never NULL, whether a group has rows or none. With it

- `bool_or(c)` is true if `some(c)`, else false if `some(c IS NOT NULL)`, else NULL. `bool_and(c)` is
  `NOT bool_or(NOT c)`, which holds for NULL, too. `min` and `max` of conditions are these, where booleans are ordered;
- `max(CASE WHEN c THEN v END)` of a literal is `CASE WHEN some(c) THEN v END`, `max(CASE WHEN c THEN 1 ELSE 0 END)` of
  at least one row `CASE WHEN some(c) THEN 1 ELSE 0 END`;
- an aggregate that leaves out NULL is NULL if `NOT some(x IS NOT NULL)`: sums, averages, extremes;
- `count(x) < count(*)` is `some(x IS NULL)`, and `count(DISTINCT x) >= 1` is `some(x IS NOT NULL)`;
- `avg(CASE WHEN c THEN 1 ELSE 0 END)` of at least one row is `count(*) FILTER (WHERE c) / count(*)`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where, distinct_value, make_count
from whence.capture.sql.fingerprint.normal_forms.conditions.filters import as_filter
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import COMPARISONS, compare, connect, negate
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null, is_total, not_null
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import count_others
from whence.capture.sql.fingerprint.normal_forms.values.cases import is_numbered_truth, make_case
from whence.capture.sql.fingerprint.normal_forms.values.rebuilding import rebuild
from whence.capture.sql.provenance.formulas import Formula, Formulas

_WITHOUT_NULLS: Final = frozenset({"sum", "avg", "min", "max", "logicalor", "logicaland"})
"""Aggregates of the values that are not NULL, which are NULL if there are none."""


class Flags:
    """Writes the values of groups with numbers of rows.

    `has_rows`: each group has a row. `is_known`: whether a value is not NULL in any row.
    """

    def __init__(self, store: Formulas, has_rows: bool, is_known: Callable[[Formula], bool]) -> None:
        self.store = store
        self.has_rows = has_rows
        self.is_known = is_known
        self._memo: dict[Formula, Formula] = {}

    def change(self, value: Formula) -> Formula:
        if not value.has_aggregate:
            return value
        found = self._memo.get(value)
        if found is None:
            found = self._memo[value] = self._change(value)
        return found

    def _change(self, value: Formula) -> Formula:
        if value.op == "aggregate":
            return self._of_aggregate(value)
        if value.op == "window":
            return value
        return self._test(rebuild(self.store, value, self.change))

    def _is_there(self, count: Formula) -> Formula:
        """Whether a count is at least one."""
        if self.has_rows and count is self._all_rows:
            return self.store.make("boolean", "true")
        return compare(self.store, "gte", count, self.store.make("number", "1"))

    @property
    def _all_rows(self) -> Formula:
        return self.store.make("aggregate", "count", self.store.make("star"))

    def _some(self, condition: Formula) -> Formula:
        return self._is_there(count_where(self.store, as_filter(self.store, condition)))

    def _of_aggregate(self, aggregate: Formula) -> Formula:
        match aggregate.args:
            case ("logicalor", "this", Formula() as condition):
                return self._any(condition)
            case ("logicaland", "this", Formula() as condition):
                return negate(self.store, self._any(negate(self.store, condition)))
            case ("max" | "min" as name, "this", Formula(op="case") as value):
                return self._extreme(name, value) or aggregate
            case ("max" | "min" as name, "this", Formula(op="cast", args=(Formula() as truth, Formula() as kind))) if (
                is_numbered_truth(truth, kind)
            ):
                return self._extreme_truth(name, truth)
            case ("avg", "this", Formula() as value):
                return self._average(value) or aggregate
        return aggregate

    def _any(self, condition: Formula) -> Formula:
        true, false, null = *(self.store.make("boolean", one) for one in ("true", "false")), self.store.make("null")
        if is_total(condition):
            known = self._is_there(self._all_rows)
        else:
            known = self._is_there(make_count(self.store, condition))
        return make_case(self.store, [(self._some(condition), true), (known, false)], null)

    def _extreme(self, name: str, value: Formula) -> Formula | None:
        """The greatest or the least of the two literals of a CASE."""
        parts = formulas_of(value)
        if len(parts) != 3 or parts[1].op not in ("number", "string"):
            return None
        condition, one, other = parts
        if other.op == "null":
            return make_case(self.store, [(self._some(condition), one)], other)
        numbers = integer_of(one), integer_of(other)
        if not self.has_rows or numbers[0] is None or numbers[1] is None:
            return None
        if (numbers[0] > numbers[1]) == (name == "max"):
            return make_case(self.store, [(self._some(condition), one)], other)
        opposite = connect(self.store, "or", [negate(self.store, condition), is_null(condition)])
        return make_case(self.store, [(self._some(opposite), other)], one)

    def _extreme_truth(self, name: str, truth: Formula) -> Formula:
        """The greatest or the least of the numbers 1 and 0 that a cast makes of a condition."""
        one, zero = (self.store.make("number", text) for text in ("1", "0"))
        branches = [(self._some(truth), one), (self._some(negate(self.store, truth)), zero)]
        return make_case(self.store, branches if name == "max" else branches[::-1], self.store.make("null"))

    def _average(self, value: Formula) -> Formula | None:
        """The share of the rows for which a condition is true. DuckDB alone divides as floating-point numbers."""
        parts = formulas_of(value) if value.op == "case" else []
        if len(parts) != 3 or not self.has_rows or self.store.dialect != "duckdb":
            return None
        flags = [str(part.args[0]).removesuffix(".0") for part in parts[1:] if part.op == "number"]
        if flags not in (["1", "0"], ["0", "1"]):
            return None
        negated = [negate(self.store, parts[0]), is_null(parts[0])]
        wanted = parts[0] if flags[0] == "1" else connect(self.store, "or", negated)
        return self.store.make("div", count_where(self.store, as_filter(self.store, wanted)), self._all_rows)

    def _test(self, value: Formula) -> Formula:
        """Comparisons of counts, and averages that are written as quotients."""
        one, zero = (self.store.make("number", text) for text in ("1", "0"))
        if (found := self._not_all(value)) is not None:
            return found
        match (value.op, *value.args):
            case ("lte", low, Formula(op="aggregate", args=("count", Formula(op="distinct") as distinct))) if (
                low is one and (only := distinct_value(distinct)) is not None
            ):
                return self._is_there(make_count(self.store, only))
            case ("eq", *sides) if zero in sides:
                return self._no_value(value)
        return self._quotient(value)

    def _not_all(self, value: Formula) -> Formula | None:
        """`count(x) < count(*)` and `count(x) = count(*)` as numbers of the other rows."""
        counted = [one for one in formulas_of(value) if one is not self._all_rows] if value.op in COMPARISONS else []
        if len(counted) != 1 or self._all_rows not in value.args:
            return None
        is_strict, is_turned = value.op in ("lt", "neq"), value.args[0] is self._all_rows
        match counted[0].args:
            case ("count", Formula() as some) if (
                counted[0].op == "aggregate"
                and some.op not in ("distinct", "star")
                and (value.op in ("eq", "neq") or is_strict != is_turned)
            ):
                others = self._is_there(count_others(self.store, some))
                return others if is_strict else negate(self.store, others)
        return None

    def quotient(self, value: Formula) -> Formula:
        """Replace quotients of aggregates by averages, and nothing else."""
        if not value.has_aggregate or value.op in ("aggregate", "window"):
            return value
        return self._quotient(rebuild(self.store, value, self.quotient))

    def _quotient(self, value: Formula) -> Formula:
        zero = self.store.make("number", "0")
        match (value.op, *value.args):
            case ("div", Formula(op="aggregate", args=("sum", "this", Formula() as total)), all_rows, *_) if (
                all_rows is self._all_rows and self.store.dialect == "duckdb" and self.is_known(total)
            ):
                return self.store.make("aggregate", "avg", "this", total)
            case ("case", Formula(op="eq") as is_empty, Formula(op="null"), Formula(op="aggregate") as average) if (
                average.args[0] == "avg" and is_empty is compare(self.store, "eq", zero, self._number_of(average))
            ):
                return average
        return value

    def _number_of(self, average: Formula) -> Formula:
        return make_count(self.store, formulas_of(average)[0])

    def _no_value(self, equality: Formula) -> Formula:
        """`count(DISTINCT x) = 0` without DISTINCT."""
        for part in formulas_of(equality):
            match part.args:
                case ("count", Formula(op="distinct") as distinct) if (only := distinct_value(distinct)) is not None:
                    return negate(self.store, self._is_there(make_count(self.store, only)))
        return equality


def count_known(store: Formulas, sources: Sequence[Formula], condition: Formula) -> Formula:
    """`sum(x) IS NOT NULL` of a group as `count(x) >= 1`. `sources`: those that are in every row."""
    tested = not_null(condition)
    instance = tested.args[0] if tested is not None and tested.op == "of" else None
    if tested is None or not isinstance(instance, Formula) or instance not in sources:
        return condition
    inside = formulas_of(tested)[1]
    is_over = inside.args[:1] == ("over",)
    counted = _counted(formulas_of(inside)[0] if is_over else inside)
    if counted is None:
        return condition
    count = make_count(store, counted)
    count = store.make("aggregate", "over", count, formulas_of(inside)[1]) if is_over else count
    return compare(store, "gte", store.make("of", instance, count), store.make("number", "1"))


def _counted(aggregate: Formula) -> Formula | None:
    """The values without which an aggregate is NULL."""
    match aggregate.args:
        case (str() as name, "this", Formula() as value) if (
            aggregate.op == "aggregate" and name in _WITHOUT_NULLS and value.op != "distinct"
        ):
            return value
    return None


def repeating_aggregates(value: Formula) -> Iterator[Formula]:
    """The outermost aggregates of a value except numbers of rows that are only compared with none."""
    if value.op == "aggregate":
        yield value
    elif value.has_aggregate:
        parts = formulas_of(value)
        is_test = value.op in ("eq", "lte") and {integer_of(part) for part in parts} & {{"eq": 0, "lte": 1}[value.op]}
        for part in parts:
            if not (is_test and part.op == "aggregate" and part.args[0] == "count"):
                yield from repeating_aggregates(part)


def counts_repetition(aggregate: Formula) -> bool:
    """Whether a row that is there twice makes another value than once."""
    match aggregate.args:
        case ("min" | "max" | "logicalor" | "logicaland", "this", Formula() as value):
            return value.has_window
        case ("count", Formula(op="distinct") as value):
            return value.has_window
    return True
