"""Comparisons of truncated months, quarters and years, whose first moments have others on one side alone.

`date_trunc('month', t) <= m` asks whether the month of t is not after that of m, as `t < date_trunc('month', m) +
INTERVAL 1 MONTH` does, and `12 * year(t) + month(t) <= 12 * year(m) + month(m)`. So both sides are truncated, wherever
it does not matter. A literal on one side makes a bound of days instead.
"""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from whence.capture.sql.fingerprint.normal_forms.conditions.bounds import Bound, bounds_of
from whence.capture.sql.fingerprint.normal_forms.terms.days import add_months, is_day, make_date, midnight
from whence.capture.sql.fingerprint.normal_forms.terms.literals import flat_parts, formulas_of, integer_of, is_literal
from whence.capture.sql.fingerprint.normal_forms.terms.types import rows_behind, type_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_MONTHS_PER_YEAR: Final = 12
UNITS: Final = {"month": 1, "quarter": 3, "year": 12}
"""The units of whole months, from the finest one: each has whole numbers of those before it."""
_LAST_DAYS: Final = frozenset({"duckdb", "snowflake", "bigquery", "redshift", "spark", "databricks"})
"""Dialects whose `last_day` is a day, also of a time."""
Sides = tuple[str, Formula, Formula]
Compare = Callable[[str, Formula, Formula], Formula]


class _Months(NamedTuple):
    """The first moment of a month, a quarter or a year, perhaps of one some months later."""

    unit: str
    first: Formula
    later: int


def is_moment(value: Formula) -> bool:
    """Whether a value is a day or a time without a zone, also one that is cut off."""
    if value.op == "date_trunc":
        return is_moment(formulas_of(value)[0])
    return type_of(value) in ("date", "timestamp")


def truncated_sides(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """A comparison with a truncated moment as one of two truncated ones."""
    operation, left, right = _of_numbers(store, *_of_last_day(store, operation, left, right))
    if operation not in ("lt", "lte") or is_literal(left) or is_literal(right):
        return operation, left, right
    low, high = _months_of(left), _months_of(right)
    if high is not None and operation == "lt" and is_moment(left):
        return _below(store, left, high)
    if low is not None and is_moment(right):
        return operation, left, _cut(store, low.unit, right) if operation == "lte" else right
    return operation, left, right


def _below(store: Formulas, value: Formula, bound: _Months) -> Sides:
    """`trunc(value) <= bound - 1 month` for `value < bound`."""
    size, cut = UNITS[bound.unit], _cut(store, bound.unit, value)
    if bound.later < size:
        return "lt", cut, _moved(store, bound)
    return "lte", cut, _moved(store, bound._replace(later=bound.later - size))


def _months_of(value: Formula) -> _Months | None:
    """The month that a value is the first moment of, of a truncated one or one of a series of first days."""
    match (value.op, *value.args):
        case ("date_plus", Formula() as inside, Formula(op="interval", args=(int() as amount, "month"))):
            found = _months_of(inside)
            return None if found is None else _later(found, amount)
        case ("date_trunc", str() as unit, _, Formula() as inside) if unit in UNITS and is_moment(inside):
            return _Months(unit, value, 0)
        case ("cast", Formula() as inside, Formula(op="type", args=("date",))):
            found = _months_of(inside)
            return None if found is None or found.later else found._replace(first=value)
    return _Months("month", value, 0) if _is_of_series(value) else None


def _later(found: _Months, amount: int) -> _Months:
    """The first moment some months later: one month after that of a year it is that of a month."""
    unit = found.unit if amount % UNITS[found.unit] == 0 else "month"
    return _Months(unit, found.first, found.later + amount)


def _is_of_series(value: Formula) -> bool:
    """Whether a value is an element of a series of first days of months."""
    rows = rows_behind(value.parts[0]) if value.op == "of" else None
    if rows is None or rows.op != "series" or len(rows.args) < 3:
        return False
    is_first = all(str(one)[7:] == "-01 00:00:00" for one in rows.args[1:3])
    return is_first and rows.args[4:] in ((), ("month",))


def _cut(store: Formulas, unit: str, value: Formula) -> Formula:
    """The first moment of the unit of a moment."""
    found = _months_of(value)
    if found is not None and UNITS[found.unit] % UNITS[unit] == 0:
        return value
    inside = value
    while inside.op == "date_trunc" and UNITS.get(str(inside.args[0]), 0) and UNITS[str(inside.args[0])] <= UNITS[unit]:
        inside = formulas_of(inside)[0]
    if inside.op == "cast" and is_day(inside) and is_moment(formulas_of(inside)[0]):
        inside = formulas_of(inside)[0]
    return store.make("date_trunc", unit, "timestamptrunc", inside)


def _moved(store: Formulas, months: _Months) -> Formula:
    if not months.later:
        return months.first
    return store.make("date_plus", months.first, store.make("interval", months.later, "month"))


def _of_last_day(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """`trunc(d) <= trunc(e)` for `d <= last_day(e)` of days."""
    for last, other in ((right, left), (left, right)):
        inside = formulas_of(last) if last.op == "lastday" and len(last.parts) == 1 else []
        is_bound = operation == ("lte" if last is right else "lt") and store.dialect in _LAST_DAYS
        if inside and is_bound and is_moment(inside[0]) and is_day(other):
            cut = [_cut(store, "month", one) for one in (other, inside[0])]
            return (operation, *cut) if last is right else (operation, *reversed(cut))  # type: ignore[return-value]
    return operation, left, right


def _of_numbers(store: Formulas, operation: str, left: Formula, right: Formula) -> Sides:
    """Months for `12 * year(a) + month(a) + 1 <= 12 * year(b) + month(b)`; without the 1 for any number above 12."""
    low, high = _numbered(left), _numbered(right)
    if low is None or high is None or low.per_year != high.per_year:
        return operation, left, right
    shift = high.later - low.later
    if low.per_year < _MONTHS_PER_YEAR or (shift and low.per_year != _MONTHS_PER_YEAR):
        return operation, left, right
    cut = [_cut(store, "month", one.moment) for one in (low, high)]
    moved = [
        store.make("date_plus", one, store.make("interval", amount, "month")) if amount > 0 else one
        for one, amount in zip(cut, (-shift, shift), strict=True)
    ]
    return operation, moved[0], moved[1]


class _Numbered(NamedTuple):
    """A month as one number, `per_year * year + month + later`, of the month that a moment is in."""

    moment: Formula
    per_year: int
    later: int


def _numbered(value: Formula) -> _Numbered | None:
    """The moment whose months are numbered: `12 * year(t) + month(t)`, `100 * year(t) + month(t)`."""
    parts = flat_parts("add", formulas_of(value)) if value.op == "add" else []
    number = sum(integer_of(one) or 0 for one in parts)
    rest = [one for one in parts if integer_of(one) is None]
    years = [one for one in rest if one.op == "mul"]
    months = [one for one in rest if one.op == "extract" and one.args[0] == "month"]
    if len(rest) != 2 or len(years) != 1 or len(months) != 1:
        return None
    moment = formulas_of(months[0])[0]
    per_year, year = sorted(formulas_of(years[0]), key=lambda one: integer_of(one) is None)
    is_year = len(years[0].args) == 2 and year is value.store.make("extract", "year", moment)
    return _Numbered(moment, integer_of(per_year) or 0, number) if is_year and is_moment(moment) else None


def day_test(store: Formulas, operation: str, left: Formula, right: Formula, compare: Compare) -> Formula | None:
    """A comparison of a truncated moment or of a year with a literal as one of its day; None for another one."""
    for value, literal in ((left, right), (right, left)):
        found = _in_unit(value, literal)
        if found is None or not (is_moment(found.moment) or (value.op == "extract" and operation == "eq")):
            continue
        first, after = (make_date(store, one) for one in (found.first, found.after))
        match operation:
            case "eq" | "neq" if found.is_first:
                parts = [compare("lte", first, found.moment), compare("lt", found.moment, after)]
                if operation == "eq":
                    return store.connect("and", _operands("and", parts))
                parts = [compare("lt", found.moment, first), compare("lte", after, found.moment)]
                return store.connect("or", _operands("or", parts))
            case "lt" | "lte" if value is left:
                return compare("lt", found.moment, first if operation == "lt" and found.is_first else after)
            case "lt" | "lte":
                return compare("lte", first if operation == "lte" and found.is_first else after, found.moment)
    return None


class _Unit(NamedTuple):
    """A moment that is compared with a unit of time: its first day and the one of the next unit.

    `is_first`: the literal is the first day itself.
    """

    moment: Formula
    first: date
    after: date
    is_first: bool


def _in_unit(value: Formula, literal: Formula) -> _Unit | None:
    day, unit = midnight(literal), str(value.args[0]) if value.op in ("date_trunc", "extract") else ""
    if value.op == "extract":
        year = integer_of(literal)
        day = date(year, 1, 1) if unit == "year" and year is not None and 1000 <= year < 9999 else None
    if day is None or unit not in UNITS or not 1000 <= day.year < 9999:
        return None
    first = day.replace(month=(day.month - 1) // UNITS[unit] * UNITS[unit] + 1, day=1)
    return _Unit(formulas_of(value)[0], first, add_months(first, UNITS[unit]), first == day)


def _operands(op: str, parts: Sequence[Formula]) -> list[Formula]:
    return [one for part in parts for one in (formulas_of(part) if part.op == op else [part])]


def with_whole_months(store: Formulas, parts: Sequence[Formula], compare: Compare) -> list[Formula]:
    """The operands of AND with one comparison of months for one of years and one of months: with each other, and with
    literals, where bounds are in one year.
    """
    kept = list(parts)
    for part in parts:
        sides = formulas_of(part) if part.op in ("eq", "lt", "lte") else []
        parted = [one for one in sides if one.op == "extract" and one.args[0] in ("month", "quarter")]
        if len(parted) == 2 and part.op == "eq":
            kept = _of_two(store, kept, part, parted, compare)
        elif len(parted) == 1:
            kept = _of_one(store, kept, part, parted[0], compare)
    return kept


def _of_two(
    store: Formulas, kept: list[Formula], part: Formula, parted: Sequence[Formula], compare: Compare
) -> list[Formula]:
    """`date_trunc('month', a) = date_trunc('month', b)` for `year(a) = year(b) AND month(a) = month(b)`."""
    moments = [formulas_of(one)[0] for one in parted]
    years = store.make("eq", *(store.make("extract", "year", one) for one in moments))
    unit = str(parted[0].args[0])
    if years not in kept or parted[0].args[0] != parted[1].args[0] or not all(map(is_moment, moments)):
        return kept
    cut = (_cut(store, unit, one) for one in moments)
    return [*(one for one in kept if one is not part and one is not years), compare("eq", *cut)]


def _of_one(store: Formulas, kept: list[Formula], part: Formula, parted: Formula, compare: Compare) -> list[Formula]:
    """`DATE '2024-02-01' <= d AND d < DATE '2024-03-01'` for `month(d) = 2`, where all days are in that year."""
    moment, unit = formulas_of(parted)[0], UNITS[str(parted.args[0])]
    bounds = {one: bound for one in kept for bound in bounds_of(one) if bound.is_day and _moment_of(bound) is moment}
    lows = [int(one.tightness[0]) for one in bounds.values() if one.is_below]
    highs = [-int(one.tightness[0]) for one in bounds.values() if not one.is_below]
    literal = next((one for one in formulas_of(part) if one is not parted), parted)
    number, is_strict = integer_of(literal), part.op == "lt"
    if number is None or not lows or not highs or is_strict or not 1 <= number <= 12 // unit or not is_moment(moment):
        return kept
    first, last = date.fromordinal(max(lows)), date.fromordinal(min(highs))
    if first.year != last.year or not 1000 <= first.year < 9999:
        return kept
    start = date(first.year, (number - 1) * unit + 1, 1)
    added = []
    if part.op == "eq" or literal is formulas_of(part)[0]:
        added.append(compare("lte", make_date(store, max(start, first)), moment))
    if part.op == "eq" or literal is formulas_of(part)[1]:
        added.append(compare("lt", moment, make_date(store, min(add_months(start, unit), last + timedelta(days=1)))))
    gone = [one for one, bound in bounds.items() if part.op == "eq" or bound.is_below is (literal is part.parts[0])]
    return [*(one for one in kept if one is not part and one not in gone), *added]


def _moment_of(bound: Bound) -> Formula:
    """The moment whose day has a bound."""
    inside = bound.value
    return formulas_of(inside)[0] if inside.op == "cast" and is_day(inside) else inside
