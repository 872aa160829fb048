"""The types of sums, products and quotients, in DuckDB."""

from whence.capture.sql.fingerprint.data_types.common import common_type
from whence.capture.sql.fingerprint.data_types.terms import (
    MOMENTS,
    decimal_of,
    depends,
    is_number,
    is_whole,
    literal_of,
    make_decimal,
    name_of,
    named,
    settled,
)
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import HIVE_FAMILY
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas

_NARROW = 18
"""Decimals of no more digits are computed as BIGINT, and their sums and products stay so."""


def combine(store: Formulas, operation: str, left: Formula | None, right: Formula | None) -> Formula | None:
    """The type of `left operation right`: add, sub, mul, div, intdiv or mod. None: that of a side is not known."""
    if left is None or right is None:
        return None
    found = _named(store, operation, left, right) if store.dialect == "duckdb" else None
    if store.dialect in HIVE_FAMILY and name_of(left) == "date" and name_of(right) == "interval of days":
        return left
    if found is not None:
        return found
    name = {"add": "terms", "sub": "terms", "mul": "factors"}.get(operation)
    if name is None:
        return depends(store, operation, settled(left), settled(right))
    parts = (part for side in (left, right) for part in _parts(name, side))
    return depends(store, name, store.make("set", *parts))


def _parts(name: str, term: Formula) -> list[Formula]:
    """The types of what is added or multiplied. Each counts once, whatever digits another one adds."""
    inside = term.args[1] if term.op == "datatype_of" and term.args[0] == name else None
    rest = settled(term)
    return formulas_of(inside) if isinstance(inside, Formula) else [rest] if rest is not None else []


def _named(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    if operation == "div" and "interval" not in name_of(left):
        return named(store, "float" if {name_of(left), name_of(right)} == {"float"} else "double")
    if not is_number(left) or not is_number(right):
        return _of_moments(store, operation, name_of(left), name_of(right))
    is_rounded = any(name_of(one) in ("double", "float") for one in (left, right))
    if is_rounded or (is_whole(left) and is_whole(right)) or operation == "mod":
        return settled(common_type(store, [left, right]))
    return _of_decimals(store, operation, left, right)


def _of_decimals(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula | None:
    one, another = decimal_of(left), decimal_of(right)
    if one is None or another is None or operation == "intdiv":
        return named(store, "double")
    (width, scale), (other, behind) = one, another
    if operation == "mul":
        whole, point = width + other, scale + behind
    else:
        point = max(scale, behind)
        whole = max(width - scale, other - behind) + point + 1
    is_narrow = max(width, other) <= _NARROW and point < _NARROW
    return make_decimal(store, _NARROW if whole > _NARROW and is_narrow else whole, point)


def _of_moments(store: Formulas, operation: str, left: str, right: str) -> Formula | None:
    """The type of a day or a time that is moved, and of what is between two of them."""
    left, right = ("interval" if one == "interval of days" else one for one in (left, right))
    match operation, left, right:
        case "add", "date", "integer" | "smallint" | "tinyint":
            return named(store, "date")
        case "add", "integer" | "smallint" | "tinyint", "date":
            return named(store, "date")
        case "sub", "date", "integer" | "smallint" | "tinyint":
            return named(store, "date")
        case "sub", "date", "date":
            return named(store, "bigint")
        case "sub", _, _ if left in MOMENTS and right in MOMENTS:
            return named(store, "interval")
        case "add" | "sub", _, "interval" if left in MOMENTS:
            return named(store, "timestamp" if left == "date" else left)
        case "add", "interval", _ if right in MOMENTS:
            return named(store, "timestamp" if right == "date" else right)
        case "add" | "sub", "interval", "interval":
            return named(store, "interval")
    return None


def negative(store: Formulas, value: Formula | None) -> Formula | None:
    """The type of a negative value."""
    if value is None or not is_number(value):
        return value
    text = literal_of(value)
    return named(store, name_of(value), f"-{text}") if text and not text.startswith("-") else value
