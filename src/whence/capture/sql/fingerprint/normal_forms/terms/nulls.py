"""What decides whether a value is NULL, and which values never are."""

from collections.abc import Iterator
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import LITERALS, formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import (
    POINTS_IN_TIME,
    is_exact_type,
    is_point_in_time,
    type_of,
)
from whence.capture.sql.provenance.formulas import PUSHED_SIZE, STRICT, Formula

_NUMBERINGS: Final = ("rownumber", "rank", "denserank")
_TOTAL: Final = frozenset({"exists", "nullsafeeq", "nullsafeneq"})
_STRICT: Final = frozenset({"lower", "upper", "neg", "add", "mul", "eq", "neq", "lt", "lte", "date_plus", "typed"})
"""Operations that are NULL if an argument is, and never otherwise."""
_SURE_CASTS: Final = frozenset({"duckdb", "postgres", "redshift"})
"""Dialects whose CAST fails where it finds no value, instead of giving NULL."""
_OF_ONE: Final = frozenset({"splitpart", "replace", "substring", "length", "round", "floor", "ceil", "abs"})
_SURE_CALLS: Final = frozenset({"duckdb", "postgres", "redshift", "snowflake"})
"""Dialects in which these give a value for all values, also for a text without the part that is wanted."""
_CAST: Final = POINTS_IN_TIME | {"text", "boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"}


def null_sources(value: Formula) -> tuple[Formula, ...]:
    """The values of which one is NULL exactly where this one is. None if it is never NULL."""
    return tuple(dict.fromkeys(_sources(value)))


def _sources(value: Formula) -> Iterator[Formula]:
    parts = formulas_of(value)
    if value.op == "interval" or is_never_null(value):
        return
    is_row = any(part.op == "tuple" for part in parts)
    if value.op in _STRICT and not is_row:
        for part in parts:
            yield from _sources(part)
    elif value.op == "not" or _is_sure_cast(value, parts) or _keeps_null(value, parts):
        yield from _sources(parts[0])
    elif (only := _only_value(value, parts)) is not None:
        yield from _sources(only)
    elif len(moments := _moments_between(value, parts)) == 2:
        for part in moments:
            yield from _sources(part)
    else:
        yield value


def _keeps_null(value: Formula, parts: list[Formula]) -> bool:
    """Whether a function of one value is NULL for NULL alone. Oracle's text of blanks is NULL without them."""
    if value.op == "trim":
        return len(parts) == 1 and value.store.dialect != "oracle"
    return value.op == "date_trunc" or (value.op in ("extract", "lastday") and is_point_in_time(parts[0]))


def _only_value(value: Formula, parts: list[Formula]) -> Formula | None:
    """The one value of a function that is NULL for NULL alone, beside literals."""
    is_sure = value.op in _OF_ONE and value.store.dialect in _SURE_CALLS
    rest = [part for part in parts if part.op not in LITERALS] if is_sure else []
    return rest[0] if len(rest) == 1 else None


def _moments_between(value: Formula, parts: list[Formula]) -> list[Formula]:
    """The two moments whose difference in whole units a value is."""
    if value.op != "datediff":
        return []
    return [part for part in parts if is_point_in_time(part)]


def _is_sure_cast(value: Formula, parts: list[Formula]) -> bool:
    """Whether a cast gives NULL for NULL alone."""
    if value.op != "cast":
        return False
    before, after = type_of(parts[0]), type_of(value)
    if is_point_in_time(parts[0]) and after in POINTS_IN_TIME:
        return True
    return value.store.dialect in _SURE_CASTS and all(one in _CAST or is_exact_type(one) for one in (before, after))


def is_null(value: Formula) -> Formula:
    """IS NULL: of what decides about it."""
    store = value.store
    found = [_test(one) for one in null_sources(value)]
    return store.connect("or", found) if found else store.make("boolean", "false")


def _test(value: Formula) -> Formula:
    return value.store.make("is", "expression", value.store.make("null"), "this", value)


def null_tested(condition: Formula) -> Formula | None:
    """The value that IS NULL tests."""
    if condition.op != "is":
        return None
    parts = formulas_of(condition)
    rest = [part for part in parts if part.op != "null"]
    return rest[0] if len(parts) == 2 and len(rest) == 1 else None


def not_null(condition: Formula) -> Formula | None:
    """The value that IS NOT NULL tests."""
    return null_tested(formulas_of(condition)[0]) if condition.op == "not" else None


def is_null_with(value: Formula, source: Formula) -> bool:
    """Whether a value is NULL where another one is, as a quotient is where its divisor is."""
    return value is source or (value.op in STRICT and any(is_null_with(part, source) for part in formulas_of(value)))


def is_never_null(value: Formula) -> bool:
    """Whether a value is never NULL, whatever the columns are. A long one may be: nobody looks at all its parts."""
    if value.size > PUSHED_SIZE:
        return False
    parts = formulas_of(value)
    if value.op == "coalesce":
        return any(map(is_never_null, parts))
    if value.op in ("aggregate", "window"):
        return value.args[0] in ("count", *_NUMBERINGS) and value.args[:1] != ("over",)
    if value.op in ("add", "mul", "neg"):
        return all(map(is_never_null, parts))
    if value.op == "case":
        return all(map(is_never_null, (*parts[1::2], parts[-1])))
    if value.op == "cast" and isinstance(value.args[0], Formula) and value.args[0].op in LITERALS:
        return value.store.dialect in _SURE_CASTS
    return value.op in (*LITERALS, "concat") or is_total(value)


def is_total(condition: Formula) -> bool:
    """Whether a condition is never NULL."""
    if condition.op in ("not", "and", "or"):
        return all(map(is_total, formulas_of(condition)))
    if condition.op == "coalesce":
        return formulas_of(condition)[-1].op == "boolean"
    if condition.op in ("eq", "neq", "lt", "lte"):
        return all(map(is_never_null, formulas_of(condition)))
    return condition.op in _TOTAL or null_tested(condition) is not None
