"""Types as terms: the name of one, or what it depends on. Equal terms are one object, as formulas are."""

import re
from typing import Final

from whence.capture.sql.fingerprint.normal_forms.terms.types import type_named
from whence.capture.sql.provenance.formulas import Formula, Formulas

WIDTHS: Final = ("tinyint", "smallint", "integer", "bigint", "hugeint")
DIGITS: Final = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19, "hugeint": 38}
"""The digits of each type of whole numbers as a decimal."""
_BITS: Final = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64, "hugeint": 128}
MOMENTS: Final = ("date", "timestamp", "timestamptz")
_DECIMAL: Final = re.compile(r"(?:decimal|numeric|dec)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?")
_DUCKDB: Final = {
    **dict.fromkeys(("real", "float4", "float"), "float"),
    **dict.fromkeys(("double precision", "float8", "double"), "double"),
    **dict.fromkeys(("char", "bpchar", "character varying", "nvarchar"), "text"),
    **dict.fromkeys(("oid",), "bigint"),
    **dict.fromkeys(("logical",), "boolean"),
}


def named(store: Formulas, name: str, literal: str = "") -> Formula:
    """A type by its name. `literal`: the text of the literal that has it, which adapts to the values beside it."""
    return store.make("datatype", name, literal)


def type_text(term: Formula | None) -> str:
    """A type as a reader is shown it."""
    if term is None or term.op != "datatype":
        return "it depends on other types"
    return {"text": "varchar", "interval of days": "interval"}.get(name_of(term), name_of(term))


def declared(store: Formulas, text: str) -> Formula:
    """A type as SQL writes it, by its one name."""
    name = type_named(re.sub(r"\s+", " ", text.strip().lower()))
    if store.dialect != "duckdb":
        return named(store, name)
    if name.endswith("[]"):
        return named(store, f"{name_of(declared(store, name[:-2]))}[]")
    if re.fullmatch(r"(?:var)?char\(\d+\)|text\(\d+\)", name):
        name = "text"
    found = _DECIMAL.fullmatch(name)
    if found is not None:
        width = found.group(1)
        name = f"decimal({width or 18},{(found.group(2) or 0) if width else 3})"
    return named(store, _DUCKDB.get(name, name))


def declared_type(term: Formula) -> Formula:
    """The declared type of one column; the term of a type that nobody declares, or of another one, as it is."""
    if term.op != "datatype_of" or term.args[0] != "column" or len(term.args) != 3:
        return term
    store = term.store
    text = store.types.get(store.make("table", str(term.args[1])), {}).get(str(term.args[2]))
    return declared(store, text) if text else term


def depends(store: Formulas, operation: str, *on: Formula | None) -> Formula | None:
    """A type that no rule names: it depends on an operation and the types of its arguments. None: one is not known."""
    return None if None in on else store.make("datatype_of", operation, *on)


def name_of(term: Formula) -> str:
    """The name of a type; empty if it depends on others."""
    return str(term.args[0]) if term.op == "datatype" else ""


def literal_of(term: Formula) -> str:
    """The text of the literal that has this type; empty for others."""
    return str(term.args[1]) if term.op == "datatype" else ""


def settled(term: Formula | None) -> Formula | None:
    """The type of a column: that of a literal does not adapt any more."""
    return named(term.store, name_of(term)) if term is not None and term.op == "datatype" else term


def decimal_of(term: Formula) -> tuple[int, int] | None:
    """The digits of a decimal, and how many of them are behind the point; of a whole number as a decimal."""
    name = name_of(term)
    found = _DECIMAL.fullmatch(name)
    if found is not None and found.group(1):
        return int(found.group(1)), int(found.group(2) or 0)
    return (DIGITS[name], 0) if name in DIGITS else None


def make_decimal(store: Formulas, width: int, scale: int) -> Formula:
    return named(store, f"decimal({min(width, 38)},{scale})")


def holds(name: str, text: str) -> bool:
    """Whether a type of whole numbers has the number that a text writes."""
    bound = 1 << (_BITS[name] - 1)
    return -bound <= int(text) < bound


def is_whole(term: Formula) -> bool:
    return name_of(term) in WIDTHS


def is_total(term: Formula) -> bool:
    """Whether a type is that of a sum, which has room for whole numbers beside it."""
    return term.op == "datatype_of" and term.args[0] == "sum"


def is_number(term: Formula) -> bool:
    return name_of(term) in (*WIDTHS, "float", "double") or decimal_of(term) is not None
