"""Violations of a contract by the data: a pure function of the version that holds, and of the schema that runs report.

An evaluation has three outcomes: it holds, it is violated, or it is not evaluated, with a reason (act.md, section 2).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.query.lookup.contracts import OF_DBT, ContractVersion, PromisedColumn

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "integer": ("int", "integer", "bigint", "smallint", "tinyint", "mediumint", "long", "short", "byte", "byteint"),
    "number": (
        "decimal",
        "dec",
        "numeric",
        "number",
        "bignumeric",
        "float",
        "double",
        "real",
        "money",
        "double precision",
    ),
    "string": ("string", "varchar", "char", "text", "character varying", "character", "nvarchar", "nchar", "bpchar"),
    "boolean": ("boolean", "bool"),
    "date": ("date",),
    "timestamp": ("timestamp", "datetime", "timestamptz", "datetime2", "smalldatetime", "datetimeoffset"),
    "time": ("time", "timetz"),
    "array": ("array", "list"),
    # Not `object`: that is also what pandas calls a column of any Python values, most of them texts.
    "object": ("struct", "record", "row", "json", "jsonb", "variant"),
    "map": ("map",),
}
_WORDS = {word: family for family, words in _FAMILIES.items() for word in words}
_WORDS |= dict.fromkeys(("int2", "int4", "int8", "int16", "int32", "int64", "serial", "bigserial"), "integer")
_WORDS |= dict.fromkeys(("float4", "float8", "float32", "float64"), "number")
_WORDS |= {
    "uuid": "string",
    "str": "string",
    "utf8": "string",
    "clob": "string",
    "nclob": "string",
    "timestamp_ntz": "timestamp",
    "timestamp_ltz": "timestamp",
}
_WORDS |= {"timestamp_tz": "timestamp", "timestampntz": "timestamp", "timestampltz": "timestamp"}
_ALSO: Mapping[str, frozenset[str]] = {
    "number": frozenset({"integer"}),
    "date": frozenset({"timestamp", "time"}),  # ODCS 3.0 has no other type for a time
    "object": frozenset({"map"}),
    "map": frozenset({"object"}),
    "vector": frozenset({"array"}),
}
"""The families of types, beside its own, that fulfil a logical type."""
_WHOLE = re.compile(r"(?:decimal|dec|numeric|number)\s*\(\s*\d+\s*(?:,\s*0\s*)?\)")
"""A decimal without decimals is a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What the data of a dataset lacks of its contract. `rule`: its kind, such as `missing-column`."""

    rule: str
    column: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Whether a dataset fulfils its contract. `not_evaluated`: why that is not known; empty: it was evaluated."""

    violations: tuple[Violation, ...] = ()
    not_evaluated: str = ""


def evaluate_contract(held: ContractVersion, seen: Mapping[str, str]) -> Evaluation:
    """Compare the columns that a contract promises with those that were reported last. `seen`: column → type; columns
    inside of others are dotted.
    """
    if not held.columns:
        return Evaluation(not_evaluated="the contract states no columns")
    if not seen:
        return Evaluation(not_evaluated="no event has reported the columns of the dataset")
    by_name = {name.casefold(): type_ for name, type_ in seen.items()}
    return Evaluation(violations=tuple(_violations(held, by_name)))


def _violations(held: ContractVersion, seen: Mapping[str, str]) -> Iterator[Violation]:
    missing = set[str]()
    for column in held.columns:
        name = column.name.casefold()
        outer = name.rpartition(".")[0]
        if outer in missing:
            missing.add(name)
        elif name in seen:
            yield from _type_violation(column, _promised_family(held, column), seen[name])
        elif not outer or any(one.startswith(f"{outer}.") for one in seen):
            missing.add(name)
            expected = column.logical_type or column.physical_type or "any type"
            yield Violation(rule="missing-column", column=column.name, expected=expected, observed="")


def _promised_family(held: ContractVersion, column: PromisedColumn) -> str:
    """The logical type of a column. dbt states that of its own warehouse; elsewhere a physical type may be one of
    another server.
    """
    return column.logical_type or (type_family(column.physical_type) if held.standard == OF_DBT else "")


def _type_violation(column: PromisedColumn, promised: str, observed: str) -> Iterator[Violation]:
    family = type_family(observed)
    if not family or not promised or promised == family or family in _ALSO.get(promised, ()):
        return
    if promised == "integer" and _WHOLE.fullmatch(observed.strip().casefold()):
        return
    expected = column.logical_type or column.physical_type
    yield Violation(rule="type", column=column.name, expected=expected, observed=observed)


def type_family(text: str) -> str:
    """The logical type of a type as engines write it; empty if it is not known, or has none."""
    word = re.split(r"[(<\[]", text.strip().casefold(), maxsplit=1)[0].strip()
    word = word.removesuffix(" without time zone").removesuffix(" with time zone").removesuffix(" unsigned")
    return "array" if text.strip().endswith("[]") else _WORDS.get(word, "")
