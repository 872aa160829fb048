"""Dates and their parts in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import HIVE_FAMILY, Rule, given
from whence.capture.sql.fingerprint.normal_forms.terms.days import day_of, is_day
from whence.capture.sql.fingerprint.normal_forms.terms.literals import integer_of
from whence.capture.sql.fingerprint.normal_forms.values.casts import cast_to
from whence.capture.sql.fingerprint.normal_forms.values.dates import (
    add_interval,
    days_between,
    extract,
    interval_of_text,
    is_shared_part,
    last_day,
    make_interval,
    month_of,
    part_of,
    parts_between,
    truncated,
    without_cut,
)
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _to_date(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`to_date(x)` without a pattern is a cast: in Snowflake, Spark and Hive."""
    is_plain = not node.args.get("safe") and not set(given(node)) - {tree.THIS, "safe"}
    if scope.reading.dialect.name == "snowflake" and is_plain:
        return cast_to(e.store, "cast", e.inside(scope, node), e.store.make("type", "date"))
    if scope.reading.dialect.name not in HIVE_FAMILY or set(given(node)) - {tree.THIS, "safe"}:
        return e.store.make(*e.parts(scope, node))
    inside = e.inside(scope, node)
    return inside if _is_date(inside) else e.store.make("trycast", inside, e.store.make("type", "date"))


def _is_date(value: Formula) -> bool:
    return value.op in ("cast", "trycast") and value.args[1] is value.store.make("type", "date")


def _date_part(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`year(x)` as `EXTRACT(YEAR FROM x)`; the parser of Spark adds a cast to the first alone."""
    if set(given(node)) != {tree.THIS} or not is_shared_part(scope.reading.dialect.name, part_of(node.key)):
        return e.store.make(*e.parts(scope, node))
    inside = e.inside(scope, node)
    if scope.reading.dialect.name in HIVE_FAMILY and tree.this(node).key == "tsordstodate" and _is_date(inside):
        (inside,) = (arg for arg in inside.args[:1] if isinstance(arg, Formula))
    return extract(e.store, part_of(node.key), inside)


def _extract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    part = part_of(str(tree.this(tree.this(node)))) if isinstance(tree.this(node), c.Var | c.Literal) else ""
    if part == "epoch" and scope.reading.dialect.name == "duckdb":
        return e.store.make("timetounix", tree.THIS, e.value(scope, tree.arg(node, tree.EXPRESSION)))
    if not is_shared_part(scope.reading.dialect.name, part):
        return e.store.make(*e.parts(scope, node))
    return extract(e.store, part, e.value(scope, tree.arg(node, tree.EXPRESSION)))


def _interval(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    unit, amount = tree.arg(node, "unit"), node.args.get(tree.THIS)
    found = None
    if unit is None and isinstance(amount, tree.Node) and scope.reading.dialect.name in ("duckdb", "postgres"):
        found = interval_of_text(e.store, e.value(scope, amount))
    if isinstance(unit, c.Var) and isinstance(amount, tree.Node):
        found = make_interval(e.store, e.value(scope, amount), str(tree.this(unit)))
    return found if found is not None else e.store.make(*e.parts(scope, node))


def _date_add(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `date_add(x, interval)` is `x + interval`."""
    inside, amount = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    is_sum = scope.reading.dialect.name == "duckdb" and set(given(node)) == {tree.THIS, tree.EXPRESSION}
    if is_sum and amount.op == "interval":
        return add_interval(e.store, [inside, amount])
    return e.store.make(*e.parts(scope, node))


def _date(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`date(x)` is a cast: in DuckDB, Postgres and BigQuery."""
    if scope.reading.dialect.name not in ("duckdb", "postgres", "bigquery") or set(given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    return cast_to(e.store, "cast", e.inside(scope, node), e.store.make("type", "date"))


def _truncated(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DATE_TRUNC of a whole unit."""
    unit = tree.arg(node, "unit")
    if set(given(node)) != {tree.THIS, "unit"} or not isinstance(unit, c.Var | c.Literal):
        return e.store.make(*e.parts(scope, node))
    return truncated(e.store, node.key, str(tree.this(unit)).lower(), e.inside(scope, node))


def _difference(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `date_diff('day', a, b)` of days is their difference; of times it counts the midnights between them."""
    known = {tree.THIS, tree.EXPRESSION, "unit", "date_part_boundary"}
    unit = str(tree.this(tree.arg(node, "unit"))).lower() if isinstance(tree.arg(node, "unit"), c.Var) else ""
    last, first = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    if unit == "day" and scope.reading.dialect.name == "duckdb":
        last, first = day_of(e.store, last), day_of(e.store, first)
    is_days = unit == "day" and is_day(first) and is_day(last) and scope.reading.dialect.name == "duckdb"
    if set(given(node)) - known:
        return e.store.make(*e.parts(scope, node))
    if scope.reading.dialect.name == "duckdb" and (parts := parts_between(e.store, unit, first, last)) is not None:
        return parts
    return days_between(e.store, first, last) if is_days else e.store.make(*e.parts(scope, node))


def _formatted(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`strftime` of a year, a month or a day: what is cut off behind it says nothing."""
    pattern = e.value(scope, tree.arg(node, "format"))
    part = _FORMATS.get(str(pattern.args[0])) if pattern.op == "string" else None
    if part is None or set(given(node)) != {tree.THIS, "format"} or scope.reading.dialect.name != "duckdb":
        return e.store.make(*e.parts(scope, node))
    return e.store.make(node.key, "format", pattern, tree.THIS, without_cut(part, e.inside(scope, node)))


def _from_parts(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`make_date` of a year, a month and a day."""
    if set(given(node)) == {"year", "month", "day"} and scope.reading.dialect.name in ("duckdb", "postgres"):
        parts = (e.value(scope, tree.arg(node, name)) for name in ("year", "month", "day"))
        if (found := month_of(e.store, *parts)) is not None:
            return found
    return e.store.make(*e.parts(scope, node))


def _last_day(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    found = last_day(e.store, e.inside(scope, node)) if set(given(node)) == {tree.THIS} else None
    return found if found is not None else e.store.make(*e.parts(scope, node))


def _add_days(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Spark's `date_add(day, 7)` is `day + INTERVAL 7 DAYS`, a date as well."""
    inside, amount = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    unit, number = tree.arg(node, "unit"), integer_of(amount)
    is_days = isinstance(unit, c.Var) and str(tree.this(unit)).lower() == "day" and is_day(inside)
    if number is None or not is_days or set(given(node)) - {tree.THIS, tree.EXPRESSION, "unit"}:
        return e.store.make(*e.parts(scope, node))
    return add_interval(e.store, [inside, e.store.make("interval", number, "day")])


_FORMATS: Final = {"%Y": "year", "%Y-%m": "month", "%Y%m": "month", "%Y-%m-%d": "day", "%Y%m%d": "day"}
"""Formats of DuckDB's `strftime`, and the last part of a date that they write."""

RULES: Final[Mapping[str, Rule]] = {
    "tsordstodate": _to_date,
    "dateadd": _date_add,
    "date": _date,
    "interval": _interval,
    "year": _date_part,
    "quarter": _date_part,
    "month": _date_part,
    "day": _date_part,
    "dayofmonth": _date_part,
    "hour": _date_part,
    "minute": _date_part,
    "dayofweek": _date_part,
    "dayofyear": _date_part,
    "dayofweekiso": _date_part,
    "week": _date_part,
    "weekofyear": _date_part,
    "extract": _extract,
    "timestamptrunc": _truncated,
    "datetrunc": _truncated,
    "datediff": _difference,
    "datefromparts": _from_parts,
    "lastday": _last_day,
    "timetostr": _formatted,
    "tsordsadd": _add_days,
}
