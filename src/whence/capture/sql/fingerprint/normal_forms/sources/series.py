"""Series of days, months and numbers between literals: DuckDB's `generate_series` and `range`, and recursive queries.

`WITH RECURSIVE d(day) AS (SELECT DATE '2025-01-01' UNION ALL SELECT day + 1 FROM d WHERE day < DATE '2025-01-10')`
gives the days that `generate_series(DATE '2025-01-01', DATE '2025-01-10', INTERVAL 1 DAY)` gives as times. Both are the
series of their elements, which the literals tell: the first one, the last one and the step. Only steps upwards that
keep the day of the month are read.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from whence.capture.sql.fingerprint.block import Block, rows_of
from whence.capture.sql.fingerprint.normal_forms.terms.days import date_of
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.row_identity import change_block, change_everywhere
from whence.capture.sql.provenance.formulas import Formula, Formulas

SERIES: Final = "series"
"""The operation of rows that are a series. Its arguments: the type of its elements, the first, the last, the step."""
_MOST: Final = 100_000
"""A longer series is compared as it is written."""
_LAST_COMMON_DAY: Final = 28
"""The last day that each month has."""
_ELEMENT: Final = "#0"
_FUNCTION_PARTS: Final = frozenset({"start", "end", "step", "is_end_exclusive"})

Element = datetime | int


class _Step(NamedTuple):
    """What is added to an element: a number, or an interval of days or months."""

    size: int
    unit: str

    def after(self, element: Element) -> Element:
        """The next element. Raises OverflowError, ValueError after the last year."""
        if isinstance(element, int):
            return element + self.size
        if self.unit == "day":
            return element + timedelta(days=self.size)
        months = element.month - 1 + self.size
        return element.replace(year=element.year + months // 12, month=months % 12 + 1)


def series_of_function(store: Formulas, rows: Formula) -> Formula:
    """The rows of a call of `generate_series` or `range` as a series; other rows as they are."""
    match rows:
        case Formula(
            op="rows_of",
            args=("table", "this", Formula(op="generateseries") as call)
            | ("unnest", "expressions", Formula(op="generateseries") as call),
        ) if store.dialect == "duckdb":
            return _of_call(store, call) or rows
    return rows


def series_of_recursion(
    store: Formulas, before: Formula, branches: Sequence[tuple[Formula, Sequence[Formula]]]
) -> tuple[Formula, str] | None:
    """The series that a recursive query of one column gives, and the type of the column; None for another query.

    `before`: what a branch reads as the rows that were found before.
    """
    first = _first_branch(store, branches)
    if store.dialect != "duckdb" or first is None:
        return None
    (start, kind), (rows, values) = first
    element = store.make("of", store.make("src", 0, store.make("label", before)), store.make("name", _ELEMENT))
    step = _step_of(values[0], element, kind)
    bound = _bound_of(store, rows, before, element, values[0])
    if step is None or bound is None or not _has_common_days(start, step):
        return None
    elements = _recursive_elements(start, step, *bound)
    made = None if elements is None else _make(store, elements, step)
    return None if made is None else (made, kind)


def column_of(store: Formulas, instance: Formula, kind: str) -> Formula:
    """The column of a series as a recursive query gives it, whose first literal has a type."""
    element = store.make("of", instance, store.make("name", _ELEMENT))
    return element if kind == "timestamp" else store.make("cast", element, store.make("type", kind))


def days_of_numbers(store: Formulas, block: Block, values: Sequence[Formula]) -> tuple[Block, list[Formula]]:
    """The same rows and values, with days in place of numbers that are only added to one literal day."""
    rest = list(values)
    for instance in [
        one for one in block.sources if rows_of(one).args[:1] == ("bigint",) and rows_of(one).op == SERIES
    ]:
        readers = [*rest, *block.conditions, *(part for join in block.outer_joins for part in join.formulas())]
        others = [one for one in block.instances() if rows_of(one).is_open]
        sums = _sums_with(store.make("of", instance, store.make("name", _ELEMENT)), [*readers, *others])
        first = {day for part in sums for day in map(date_of, formulas_of(part)) if day is not None}
        rows = _days(store, rows_of(instance), *first) if len(first) == 1 else None
        if rows is None:
            continue
        days = store.instance(rows)
        column = column_of(store, days, "date")
        visit = change_everywhere(store, lambda part, sums=sums, column=column: column if part in sums else part)  # type: ignore[misc]
        sources = [days if one is instance else one for one in block.sources]
        block = change_block(Block(sources, block.outer_joins, block.conditions, block.is_used), visit)
        rest = [visit(value) for value in rest]
    return block, rest


def _days(store: Formulas, numbers: Formula, start: date) -> Formula | None:
    """The series of days that a series of numbers is after a day; None if it leaves the years that Python has."""
    first, last, *step = numbers.args[1:]
    try:
        moments = [datetime.combine(start + timedelta(days=int(str(one))), time()) for one in (first, last)]
    except OverflowError:
        return None
    return store.make(SERIES, "timestamp", *map(str, moments), *((step[0], "day") if step else ()))


def _sums_with(element: Formula, readers: Sequence[Formula]) -> frozenset[Formula]:
    """The sums of a literal day and an element of a series; none if the element is read otherwise."""
    inside = (element, element.store.make("cast", element, element.store.make("type", "int")))
    found: set[Formula] = set()
    seen: set[Formula] = set()
    remaining = list(readers)
    while remaining:
        part = remaining.pop()
        parts = formulas_of(part)
        if part is element:
            return frozenset()
        if part.op == "add" and len(parts) == 2 and any(one in inside for one in parts) and any(map(date_of, parts)):
            found.add(part)
        elif part.is_open and part not in seen:
            seen.add(part)
            remaining += parts
    return frozenset(found)


def _of_call(store: Formulas, call: Formula) -> Formula | None:
    parts = dict(zip(call.args[::2], call.args[1::2], strict=False))
    start, end = (_element_of(parts.get(name)) for name in ("start", "end"))
    if not parts.keys() <= _FUNCTION_PARTS or start is None or end is None:
        return None
    if isinstance(start[0], int) != isinstance(end[0], int):
        return None
    step = _step_of_interval(parts["step"]) if "step" in parts else _Step(1, "number")
    if step is None or isinstance(start[0], int) != (step.unit == "number") or not _has_common_days(start[0], step):
        return None
    elements = _elements(start[0], step, lambda one: _is_below(one, end[0], "is_end_exclusive" not in parts))
    return None if elements is None else _make(store, elements, step)


def _make(store: Formulas, elements: tuple[Element, Element], step: _Step) -> Formula:
    """A series. One of a single element has no step that says anything."""
    first, last = elements
    kind = "bigint" if step.unit == "number" else "timestamp"
    return store.make(SERIES, kind, str(first), str(last), *(step if first != last else ()))


def _elements(start: Element, step: _Step, is_member: Callable[[Element], bool]) -> tuple[Element, Element] | None:
    """The first and the last element of a series; None if it has none, or too many."""
    last, found = None, start
    try:
        for _ in range(_MOST):
            if not is_member(found):
                return None if last is None else (start, last)
            last, found = found, step.after(found)
    except (OverflowError, ValueError):
        return None
    return None


def _recursive_elements(
    start: Element, step: _Step, limit: Element, is_inclusive: bool, is_next: bool
) -> tuple[Element, Element] | None:
    """The same of a recursive query, whose first element is not tested. `is_next`: a bound is one of the next element,
    instead of the one before.
    """
    if is_next:
        return _elements(start, step, lambda one: one == start or _is_below(one, limit, is_inclusive))
    found = _elements(start, step, lambda one: _is_below(one, limit, is_inclusive))
    try:
        return (start, step.after(found[1])) if found is not None else (start, start)
    except (OverflowError, ValueError):
        return None


def _is_below(element: Element, limit: Element, is_inclusive: bool) -> bool:
    match element, limit:
        case (int(), int()) | (datetime(), datetime()):
            return element <= limit if is_inclusive else element < limit  # type: ignore[operator]  # of one type
    return False


def _has_common_days(start: Element, step: _Step) -> bool:
    return isinstance(start, int) or step.unit == "day" or start.day <= _LAST_COMMON_DAY


def _element_of(value: object) -> tuple[Element, str] | None:
    """A literal number, day or time, and its type."""
    if not isinstance(value, Formula):
        return None
    if (number := integer_of(value)) is not None:
        return number, "int"
    match value:
        case Formula(op="cast", args=(Formula(op="string", args=(str() as text,)), Formula(args=(str() as kind,)))):
            return (moment, kind) if (moment := _moment_of(text, kind)) is not None else None
    return None


def _moment_of(text: str, kind: str) -> datetime | None:
    """A day or a time without a zone, as far as microseconds tell it."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    is_read = len(text) == len("2025-01-01") if kind == "date" else kind == "timestamp"
    return moment if is_read and moment.tzinfo is None and len(text) <= len("2025-01-01 00:00:00.123456") else None


def _step_of_interval(value: object) -> _Step | None:
    if not isinstance(value, Formula):
        return None
    if (number := integer_of(value)) is not None and number > 0:
        return _Step(number, "number")
    match value:
        case Formula(op="interval", args=(int() as size, "day" | "month" as unit)) if size > 0:
            return _Step(size, str(unit))
    return None


def _first_branch(
    store: Formulas, branches: Sequence[tuple[Formula, Sequence[Formula]]]
) -> tuple[tuple[Element, str], tuple[Formula, Sequence[Formula]]] | None:
    """The one literal of the branch without sources, and the other branch."""
    nothing = store.make("block", store.make("bag"), store.make("set"), store.make("bag"))
    first = [values for rows, values in branches if rows is nothing]
    others = [(rows, values) for rows, values in branches if rows is not nothing]
    if len(first) != 1 or len(others) != 1 or len(first[0]) != 1 or len(others[0][1]) != 1:
        return None
    start = _element_of(first[0][0])
    return None if start is None else (start, others[0])


def _step_of(value: Formula, element: Formula, kind: str) -> _Step | None:
    """The step that makes the next element of one. DuckDB casts it to the type of the first element."""
    match value:
        case Formula(op="cast", args=(Formula() as inside, Formula(args=("date",)))) if kind == "date":
            return _step_of(inside, element, kind)
        case Formula(op="date_plus", args=(Formula() as before, Formula() as step)) if (
            before is element and kind != "int"
        ):
            interval = _step_of_interval(step)
            return interval if interval is not None and interval.unit != "number" else None
        case Formula(op="add") if kind != "timestamp" and len(value.args) == 2 and element in value.args:
            number = next((found for part in value.args if (found := integer_of(part)) is not None), 0)
            return _Step(number, "day" if kind == "date" else "number") if number > 0 else None
    return None


def _bound_of(
    store: Formulas, rows: Formula, before: Formula, element: Formula, following: Formula
) -> tuple[Element, bool, bool] | None:
    """The literal that ends a recursion, whether it belongs to the rows, and whether the next element is compared."""
    if rows.op != "block":
        return None
    sources, conditions, joins = formulas_of(rows)
    (condition, *others) = formulas_of(conditions) or [rows]
    is_plain = formulas_of(sources) == [store.make("src", 0, store.make("label", before))] and not joins.args
    if not is_plain or others or condition.op not in ("lt", "lte"):
        return None
    value, literal = formulas_of(condition)
    limit = _element_of(literal)
    if limit is None or value not in (element, following):
        return None
    return limit[0], condition.op == "lte", value is following
