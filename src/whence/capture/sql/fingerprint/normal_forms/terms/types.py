"""The types of values, as far as the declared types of columns, casts and operations tell."""

from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.literals import INTEGER, formulas_of
from whence.capture.sql.provenance.formulas import Formula

_NAMES: Final = {
    **dict.fromkeys(("int", "int4", "signed"), "integer"),
    **dict.fromkeys(("int8", "long"), "bigint"),
    **dict.fromkeys(("int2", "short"), "smallint"),
    **dict.fromkeys(("int1", "byte"), "tinyint"),
    **dict.fromkeys(("text", "string", "varchar"), "text"),
    **dict.fromkeys(("timestamp", "timestamp without time zone", "datetime"), "timestamp"),
    **dict.fromkeys(("timestamptz", "timestamp with time zone"), "timestamptz"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("int128",), "hugeint"),
}
_WIDTHS: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_INSIDE: Final = frozenset({"group", "limit", "decorated", "sorted"})
"""Rows whose columns are those of the rows in them."""
_FIRST: Final = frozenset({"min", "max", "first", "last", "anyvalue", "first_row", "lag", "firstvalue", "lastvalue"})
"""Aggregates and window functions that give one of their values."""
_TEXTS: Final = frozenset({"lower", "upper", "trim", "substring", "concat", "dpipe", "jsonextractscalar", "splitpart"})
_COUNTED: Final = frozenset({"count", "rownumber", "rank", "denserank"})
_DEPTH: Final = 60
"""Values that are made of more operations than this, one in another, have no known type."""
POINTS_IN_TIME: Final = frozenset({"date", "timestamp", "timestamptz"})
_MARKED: Final = frozenset({"spark", "databricks", "hive"})
"""Dialects whose TIMESTAMP has a time zone."""

EXACT_TEXTS: Final = frozenset(
    {"duckdb", "postgres", "redshift", "spark", "databricks", "hive", "bigquery", "snowflake"}
)
"""Dialects that compare texts character by character: case and blanks at the end count."""

OVERFLOWING: Final = frozenset({"spark", "databricks", "hive"})
"""Dialects in which a whole number that is too great may become a negative one; in others it is an error."""
_BOOLEANS: Final = frozenset(
    {"duckdb", "postgres", "redshift", "spark", "databricks", "bigquery", "snowflake", "trino"}
)
"""Dialects whose BOOLEAN is true, false or NULL, and no number."""


def type_of(value: Formula, rows: Formula | None = None, depth: int = 0) -> str:
    """The type of a value of some rows, in lower case; empty if it is not known."""
    if depth > _DEPTH:
        return ""
    known, key = value.store.kinds, (value, rows)
    found = known.get(key)
    if found is None:
        found = known[key] = _type_of(value, rows, depth + 1)
    return found


def type_named(name: str) -> str:
    """The one name of a type that has several."""
    return _NAMES.get(name, name)


def is_boolean(value: Formula) -> bool:
    """Whether a value is known to be true, false or NULL by its type."""
    return value.store.dialect in _BOOLEANS and type_of(value) == "boolean"


def is_whole_type(name: str) -> bool:
    """Whether a type has whole numbers only."""
    return name in _WIDTHS


def is_wider_whole(name: str, other: str) -> bool:
    """Whether a type of whole numbers has all numbers of another one."""
    return is_whole_type(name) and is_whole_type(other) and _WIDTHS.index(name) >= _WIDTHS.index(other)


def is_exact_type(name: str) -> bool:
    """Whether a type has numbers without rounding, of which a difference is zero for equal ones alone."""
    return is_whole_type(name) or name.startswith("decimal")


def is_rounded_type(name: str) -> bool:
    """Whether a type has floating-point numbers, of which two are zero."""
    return name in ("double", "double precision", "real") or name.startswith("float")


def is_point_in_time(value: Formula) -> bool:
    """Whether a value is a date or a time, with a zone or without one, also one that is cut off: no interval."""
    if value.op == "date_trunc":
        return is_point_in_time(formulas_of(value)[0])
    return type_of(value) in POINTS_IN_TIME


def has_other_digits(one: str, other: str) -> bool:
    """Whether values of two types are compared as floating-point numbers, which have fewer digits than one of them."""
    for name, beside in ((one, other), (other, one)):
        if is_rounded_type(name) and (beside in ("bigint", "hugeint") or beside.startswith("decimal")):
            return True
    return one != other and is_rounded_type(one) and is_rounded_type(other)


def has_one_spelling(name: str, dialect: str) -> bool:
    """Whether equal values of a type are the same: not so for numbers with two zeros or texts of a collation."""
    is_text = name == "text" and dialect in ("duckdb", "spark", "databricks")
    return is_text or is_exact_type(name) or name in ("date", "timestamp", "boolean")


def _type_of(value: Formula, rows: Formula | None, depth: int) -> str:
    parts = formulas_of(value)
    match value.op:
        case "of":
            return type_of(parts[1], rows_behind(parts[0]), depth)
        case "name":
            return _declared(rows, str(value.args[0]))
        case "union_column":
            return _of_union(parts, rows, depth)
        case "number":
            return _of_number(str(value.args[0]))
        case "string":
            return "text"
        case "boolean" | "eq" | "neq" | "lt" | "lte" | "and" | "or" | "not" | "is" | "exists":
            return "boolean"
        case "cast" | "trycast":
            return type_named(str(parts[1].args[0]))
        case "coalesce":
            return _common([type_of(one, rows, depth) for one in parts if one.op != "null"])
        case "case":
            values = (*parts[1:-1:2], parts[-1])
            return _common([type_of(one, rows, depth) for one in values if one.op != "null"])
        case "least" | "greatest" if parts[0].op == "set":
            return _common([type_of(one, rows, depth) for one in parts[0].parts])
        case "aggregate" | "window":
            return _of_aggregate(value, parts, rows, depth)
        case "typed" | "grouped":
            return type_of(parts[0], rows, depth)
        case "neg" | "abs":
            found = type_of(parts[0], rows, depth)
            return found if is_exact_type(found) else ""
        case "add" | "mul":
            return _of_sum(value, [type_of(one, rows, depth) for one in parts])
        case "date_plus":
            return _of_moved(value, [type_of(one, rows, depth) for one in parts])
        case "date_trunc":
            found = type_of(parts[0], rows, depth)
            return found if found in ("timestamp", "timestamptz") else ""
        case "attimezone" if value.args[:1] == ("this",):
            return _in_zone(value, type_of(parts[0], rows, depth))
        case "lastday":
            return "date" if value.store.dialect == "duckdb" else ""
        case "datediff" | "extract" | "length":
            return "bigint" if value.store.dialect == "duckdb" else ""
        case name if name in _TEXTS:
            return "text"
    return ""


def function_of(window: Formula) -> str:
    """The name of a window function."""
    place = next(place for place, arg in enumerate(window.args) if isinstance(arg, Formula) and arg.op == "set")
    name = str(window.args[place - 1])
    return str(window.args[0]) if name == "aggregate" else name


def rows_behind(source: Formula) -> Formula | None:
    """The rows that a reference to a source means: through labels, and what they say of joins."""
    while True:
        parts = formulas_of(source)
        if source.op in ("inst", "src", "label", "joined", "side") and parts:
            source = parts[0]
        else:
            return source


def _declared(rows: Formula | None, name: str) -> str:
    while rows is not None and rows.op in _INSIDE:
        rows = formulas_of(rows)[0]
    if rows is None:
        return ""
    if rows.op == "recursion":
        return _of_placeholder(rows, name)
    if rows.op == "recursive":
        return _of_recursion(rows, name)
    if rows.op == "series":
        return str(rows.args[0])
    found = rows.store.types.get(rows, {}).get(name, "")
    is_moment = type_named(found) == "timestamp" and rows.store.dialect in _MARKED
    return "timestamptz" if is_moment else type_named(found)


def _of_placeholder(rows: Formula, name: str) -> str:
    """The type of a column of the rows that a recursive query has found."""
    types = rows.args[1:]
    place = int(name[1:]) if name[1:].isdigit() and name[0] == "#" else len(types)
    return str(types[place]) if place < len(types) else ""


def _of_recursion(rows: Formula, name: str) -> str:
    """The type that a column has in all branches of a recursive query."""
    branches = [formulas_of(one) for one in formulas_of(formulas_of(rows)[0])]
    place = int(name[1:]) if name[1:].isdigit() and name[0] == "#" else -1
    if not all(0 <= place < len(formulas_of(columns)) for _, columns in branches):
        return ""
    found = {type_of(formulas_of(columns)[place], inside) for inside, columns in branches}
    return found.pop() if len(found) == 1 else ""


def _of_union(parts: list[Formula], rows: Formula | None, depth: int) -> str:
    while rows is not None and rows.op in _INSIDE:
        rows = formulas_of(rows)[0]
    if rows is None or rows.op != "union_all":
        return ""
    branches = formulas_of(formulas_of(rows)[0])
    if len(branches) != len(parts):
        return ""
    return _common([type_of(*pair, depth) for pair in zip(parts, branches, strict=True)])


def _in_zone(value: Formula, name: str) -> str:
    """The type of a time in a zone: without one if it had one."""
    other = {"timestamp": "timestamptz", "timestamptz": "timestamp"} if value.store.dialect == "duckdb" else {}
    return other.get(name, "")


def _of_number(text: str) -> str:
    if INTEGER.fullmatch(text):
        return "integer"
    return "bigint" if text.lstrip("-").isdigit() and len(text) < 19 else ""


def _common(names: list[str]) -> str:
    """The type of values of which one is chosen."""
    if names and all(map(is_whole_type, names)):
        return max(names, key=_WIDTHS.index)
    if len(set(names)) > 1 and all(map(is_exact_type, names)):
        return "decimal"
    return names[0] if len(set(names)) == 1 else ""


def _of_aggregate(value: Formula, parts: list[Formula], rows: Formula | None, depth: int) -> str:
    name = str(value.args[0])
    if name == "over":
        return type_of(parts[0], parts[1], depth)
    if value.op == "window":
        name = function_of(value)
    if name in _COUNTED:
        return "bigint"
    if not parts:
        return ""
    inside = type_of(parts[0], rows, depth)
    if name in _FIRST:
        return inside
    if name == "sum" and is_whole_type(inside):
        return "hugeint" if value.store.dialect == "duckdb" else "bigint"
    return "decimal" if name == "sum" and inside.startswith("decimal") else ""


def _of_sum(value: Formula, names: list[str]) -> str:
    if all(map(is_whole_type, names)):
        return max(names, key=_WIDTHS.index)
    if all(map(is_exact_type, names)):
        return "decimal"
    rest = [name for name in names if not is_whole_type(name)]
    if value.op == "add" and rest == ["date"] and value.store.dialect in ("duckdb", "postgres"):
        return "date"
    return ""


def _of_moved(value: Formula, names: list[str]) -> str:
    if not names or names[0] not in ("date", "timestamp", "timestamptz"):
        return ""
    units = {str(part.args[1]) for part in formulas_of(value)[1:] if part.op == "interval" and len(part.args) == 2}
    if value.store.dialect in _MARKED:
        return "date" if names[0] == "date" and units <= {"day", "month"} and units else ""
    return names[0] if names[0] == "timestamptz" else "timestamp"
