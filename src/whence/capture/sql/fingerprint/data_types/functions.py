"""The types of functions and aggregates, by the parser's names."""

from collections.abc import Callable, Mapping
from typing import Final

from whence.capture.sql.fingerprint.data_types.terms import (
    MOMENTS,
    decimal_of,
    depends,
    is_whole,
    make_decimal,
    name_of,
    named,
    settled,
)
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

BOOLEANS: Final = frozenset(
    {
        *("eq", "neq", "lt", "lte", "gt", "gte", "nullsafeeq", "nullsafeneq", "and", "or", "not", "is", "in"),
        *("like", "ilike", "between", "exists", "regexplike", "startswith", "endswith", "contains", "arraycontains"),
        *("logicalor", "logicaland", "boolean", "similarto", "isnan", "isinf", "arraycontainsall", "regexpfullmatch"),
    }
)
TEXTS: Final = frozenset(
    {
        *("lower", "upper", "trim", "substring", "splitpart", "groupconcat", "regexpreplace", "regexpextract"),
        *("timetostr", "replace", "left", "right", "md5", "concatws", "pad", "initcap", "arraytostring", "chr"),
        *("jsonextractscalar", "repeat", "translate"),
    }
)
PARTS: Final = frozenset(
    {
        *("year", "quarter", "month", "week", "weekofyear", "day", "dayofmonth", "dayofweek", "dayofyear"),
        *("hour", "minute", "second", "extract", "dayofweekiso"),
    }
)
"""Parts of dates and times."""
_COUNTS: Final = ("count", "rownumber", "rank", "denserank", "ntile", "approxdistinct", "grouping", "groupingid")
_SIZES: Final = ("length", "strposition", "datediff", "arraysize")
_SHARES: Final = (
    *("percentrank", "cumedist", "sqrt", "pow", "ln", "exp", "log", "timetounix", "stddev", "stddevsamp"),
    *("stddevpop", "variance", "variancepop", "corr", "covarpop", "covarsamp"),
)
NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(BOOLEANS, "boolean"),
    **dict.fromkeys(TEXTS, "text"),
    **dict.fromkeys((*_COUNTS, *_SIZES), "bigint"),
    **dict.fromkeys(_SHARES, "double"),
    **dict.fromkeys(("lastday", "datefromparts", "currentdate", "date", "tsordstodate"), "date"),
    **dict.fromkeys(("currenttimestamp",), "timestamptz"),
    **dict.fromkeys(("jsonextract",), "json"),
    **dict.fromkeys(("countif",), "hugeint"),
    **dict.fromkeys(("sign",), "tinyint"),
}
"""The types of what DuckDB's functions give, whatever is given to them."""
FIRST: Final = frozenset(
    {
        *("min", "max", "anyvalue", "first", "last", "argmax", "argmin", "mode", "firstvalue", "lastvalue", "nthvalue"),
        *("lag", "lead", "percentiledisc", "nullif"),
    }
)
"""Functions that give one of the values of their first argument."""


def total(store: Formulas, value: Formula) -> Formula | None:
    name, digits = name_of(value), decimal_of(value)
    if is_whole(value) or name == "boolean":
        return named(store, "hugeint")
    if digits is not None:
        return make_decimal(store, 38, digits[1])
    return named(store, "double") if name in ("double", "float") else None


def mean(store: Formulas, value: Formula) -> Formula | None:
    """The type of a mean: of what nobody declares that of numbers."""
    return named(store, "timestamp" if name_of(value) in ("date", "timestamp") else "double")


def middle(store: Formulas, value: Formula) -> Formula | None:
    """The type of a median or a quantile that lies between two values."""
    name = name_of(value)
    if is_whole(value):
        return named(store, "double")
    if decimal_of(value) is not None or name in ("double", "float"):
        return settled(value)
    return named(store, "timestamp") if name in ("date", "timestamp") else None


def begin(store: Formulas, value: Formula) -> Formula | None:
    """The type of the begin of the month, the year and so on of a moment."""
    name = name_of(value)
    return named(store, "timestamp" if name == "date" else name) if name in MOMENTS else None


def in_zone(store: Formulas, value: Formula) -> Formula | None:
    """The type of a time with or without a zone in a zone."""
    other = {"timestamp": "timestamptz", "timestamptz": "timestamp"}.get(name_of(value))
    return named(store, other) if other is not None else None


def whole_part(store: Formulas, value: Formula) -> Formula | None:
    """The type of `floor` and `ceil`."""
    digits = decimal_of(value)
    if digits is not None and not is_whole(value):
        return make_decimal(store, digits[0], 0)
    return named(store, "double") if is_whole(value) or name_of(value) == "double" else None


def size(store: Formulas, value: Formula) -> Formula | None:
    """The type of `abs`."""
    return settled(value) if decimal_of(value) is not None or name_of(value) in ("double", "float") else None


def several(store: Formulas, value: Formula) -> Formula | None:
    return named(store, f"{name_of(value)}[]") if name_of(value) else None


def same_list(store: Formulas, value: Formula) -> Formula | None:
    """The type of a list with the same values."""
    return settled(value) if name_of(value).endswith("[]") else None


def element(store: Formulas, value: Formula) -> Formula | None:
    name = name_of(value)
    return named(store, name[:-2]) if name.endswith("[]") else None


def _without_whole(store: Formulas, several_types: Formula) -> Formula:
    """The types of what is added up, without INTEGER: a total has as many digits as there are, anyway."""
    kept = [one for one in formulas_of(formulas_of(several_types)[0]) if name_of(one) != "integer"]
    return kept[0] if len(kept) == 1 else store.make("datatypes", store.make("set", *kept))


BY_ARGUMENT: Final[Mapping[str, Callable[[Formulas, Formula], Formula | None]]] = {
    "sum": total,
    "avg": mean,
    "median": middle,
    "percentilecont": middle,
    "quantile": middle,
    "timestamptrunc": begin,
    "datetrunc": begin,
    "attimezone": in_zone,
    "floor": whole_part,
    "ceil": whole_part,
    "abs": size,
    "arrayagg": several,
    "arraysort": same_list,
    "explode": element,
    "unnest": element,
}
"""Functions whose type depends on that of their first argument, in DuckDB."""


def by_argument(store: Formulas, key: str, value: Formula | None) -> Formula | None:
    """The type of a function of one argument that decides."""
    if value is not None and key == "sum" and value.op == "datatypes" and store.dialect == "duckdb":
        value = _without_whole(store, value)
    found = BY_ARGUMENT[key](store, value) if value is not None and store.dialect == "duckdb" else None
    return found if found is not None else depends(store, key, settled(value))
