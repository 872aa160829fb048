"""Casts that say the same in several ways."""

from datetime import UTC, datetime
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import is_condition
from whence.capture.sql.fingerprint.normal_forms.conditions.months import is_moment
from whence.capture.sql.fingerprint.normal_forms.terms.days import day_of_moment, make_date, moved_day
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_never_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_named, type_of
from whence.capture.sql.fingerprint.normal_forms.values.cases import is_numbered_truth, make_case
from whence.capture.sql.fingerprint.normal_forms.values.dates import as_last_day, truncated, without_cut
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import Formula, Formulas

_WITH_ZONE: Final = frozenset({"timestamptz", "timestamp with time zone"})
_MOMENTS: Final = frozenset({"date", "timestamp", "timestamptz"})
_SAME: Final = _MOMENTS - {"timestamptz"} | {"int", "integer", "bigint", "boolean"}
"""Types that have no parameters, and whose columns are of just this type."""
_UNBOUNDED: Final = frozenset({"bigquery", "databricks", "duckdb", "postgres", "snowflake", "spark"})
"""Dialects whose texts without a length take every text; a cast in Redshift cuts off what is after 256 bytes."""
_JOINED: Final = frozenset({"coalesce", "concat", "dpipe"})
_WRITTEN_UNITS: Final = {"%Y-%m-%d": "day", "%Y-%m-01": "month", "%Y-01-01": "year"}
"""Formats of first days, which a cast reads again."""


def cast_to(store: Formulas, operation: str, value: Formula, kind: Formula) -> Formula:
    """CAST or TRY_CAST of a value to a type."""
    name = str(kind.args[0])
    if type_of(value) == type_named(name) and name in _SAME and value.op != "string":
        return value
    if name == "text" and store.dialect in _UNBOUNDED and value.op in _JOINED and _is_text(value):
        return value
    if name == "boolean" and is_condition(value):
        return value
    if value.op == "cast" and name == "bigint" and type_of(value) == "hugeint":
        return _narrowed(store, operation, value, kind)
    if is_numbered_truth(value, kind) and is_never_null(value):
        one, zero = (store.make("number", text) for text in ("1", "0"))
        return make_case(store, [(value, one)], zero)
    if name in _WITH_ZONE and value.op == "string":
        value = store.make("string", _in_utc(str(value.args[0])))
    if name == "date" and (day := as_last_day(store, value) or moved_day(store, value)) is not None:
        return as_last_day(store, day) or day
    if name == "date" and (unit := _WRITTEN_UNITS.get(_format_of(value))) is not None:
        return cast_to(store, operation, truncated(store, "timestamptrunc", unit, value.parts[1]), kind)
    if name == "date" and (literal := day_of_moment(value)) is not None:
        return make_date(store, literal)
    if name == "date" and value.op == "date_trunc" and type_of(formulas_of(value)[0]) in _MOMENTS:
        value = formulas_of(value)[0] if value.args[0] == "day" else _without_cut(store, value)
    if name == "date" and operation == "cast" and (found := _day_of_each(store, value, kind)) is not None:
        return found
    return store.make(operation, value, kind)


def _format_of(value: Formula) -> str:
    """The format in which DuckDB's `strftime` writes a value; empty for any other one."""
    match value.args:
        case ("format", Formula(op="string", args=(str() as text,)), "this", Formula() as moment) if (
            value.op == "timetostr" and value.store.dialect == "duckdb" and is_moment(moment)
        ):
            return text
    return ""


def _without_cut(store: Formulas, value: Formula) -> Formula:
    """A truncated moment of one that is cut off already, where this says nothing about its day."""
    unit, inside = str(value.args[0]), formulas_of(value)[0]
    whole = without_cut(unit, inside)
    return value if whole is inside else store.make("date_trunc", unit, value.args[1], whole)


def _is_text(value: Formula) -> bool:
    """Whether a value is a text by what it is made of, whatever the columns are: lists are joined like texts."""
    match value.op:
        case "string":
            return True
        case "cast" | "trycast":
            return formulas_of(value)[1].args == ("text",)
    return value.op in _JOINED and all(map(_is_text, formulas_of(value)))


def _narrowed(store: Formulas, operation: str, value: Formula, kind: Formula) -> Formula:
    """A cast of a BIGINT to a wider type and back, which leaves it as it was."""
    (inside, _) = formulas_of(value)
    return inside if type_of(inside) == "bigint" else store.make(operation, value, kind)


def _day_of_each(store: Formulas, value: Formula, kind: Formula) -> Formula | None:
    """The day of the first moment that is not NULL as the first of their days."""
    parts = formulas_of(value) if value.op == "coalesce" else []
    if not parts or any(type_of(one) not in ("date", "timestamp") for one in parts):
        return None
    return make_coalesce(store, [cast_to(store, "cast", one, kind) for one in parts])


def _in_utc(text: str) -> str:
    """A moment with a time zone in that of Greenwich."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is None or not text.isascii() else moment.astimezone(UTC).isoformat(" ")
