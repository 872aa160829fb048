"""How Spark's functions are written down in lineage: their names, around the argument that an edge is about.

Other arguments are `?`: a literal in a query may be personal data. Only numbers that say whether a part of a text is
all of it are kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whence_client.lineage.columns import UNREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence_client.lineage.columns import Column
    from whence_client.spark.plan.trees import Node

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_NEXT_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SIMPLE_TYPE = re.compile(r"[a-z]+(\(\d+(,\d+)?\))?")
_MOST_ARGUMENTS = 8
_WHOLE = str((1 << 31) - 1)
"""The length of a part that has no end."""

_NAMES = {
    **{f"StringTrim{side}": name for side, name in (("", "trim"), ("Left", "ltrim"), ("Right", "rtrim"))},
    "StringReplace": "replace",
    "StringTranslate": "translate",
    "StringLPad": "lpad",
    "StringRPad": "rpad",
    "StringRepeat": "repeat",
    "StringSplit": "split",
    "StringInstr": "instr",
    "StringLocate": "locate",
    "InitCap": "initcap",
    "RegExpReplace": "regexp_replace",
    "RegExpExtract": "regexp_extract",
    "UnBase64": "unbase64",
    "DateFormatClass": "date_format",
    "TruncDate": "trunc",
    "TruncTimestamp": "date_trunc",
    "ParseToDate": "to_date",
    "ParseToTimestamp": "to_timestamp",
    "GetTimestamp": "to_timestamp",
    **{f"DayOf{unit}": f"dayof{unit.lower()}" for unit in ("Week", "Month", "Year")},
    "StructsToJson": "to_json",
    "CreateArray": "array",
    "CreateMap": "map",
    "Average": "avg",
    "VarianceSamp": "var_samp",
    "VariancePop": "var_pop",
    "ApproximatePercentile": "percentile_approx",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "XxHash64": "xxhash64",
    "Murmur3Hash": "hash",
    "HiveHash": "hash",
}
"""Those whose class is named otherwise. `Lower` is lower, `AesEncrypt` is aes_encrypt."""

_OPERATORS = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "Remainder": "%",
    "IntegralDivide": "DIV",
    "EqualTo": "=",
    "EqualNullSafe": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "And": "AND",
    "Or": "OR",
    "Like": "LIKE",
    "RLike": "RLIKE",
}
_TESTS = {"IsNull": "({} IS NULL)", "IsNotNull": "({} IS NOT NULL)", "Not": "(NOT {})", "UnaryMinus": "(-{})"}


def steps_of(name: str, children: Sequence[Column]) -> list[str]:
    """For each argument of a function of this class, what is done with it: `sha2({}, ?)` for the first of two."""
    if name in _TESTS and len(children) == 1:
        return [_TESTS[name]]
    if name in _OPERATORS and len(children) == 2:
        return [f"({{}} {_OPERATORS[name]} ?)", f"(? {_OPERATORS[name]} {{}})"]
    if name in ("In", "InSet"):
        return ["({} IN (?))", *("(? IN ({}))" for _ in children[1:])]
    if name in ("Substring", "Left", "Right"):
        return _part_of_text(name, children)
    return steps_of_call(_NAMES.get(name) or _NEXT_WORD.sub("_", name).lower(), len(children))


def steps_of_call(name: str, count: int) -> list[str]:
    """What a call of a function with `count` arguments does with each of them, as SQL with `?` for the others."""
    if not _WORD.fullmatch(name):
        return [UNREAD] * count
    if count > _MOST_ARGUMENTS:
        return [f"{name}({{}}, ?)"] * count
    return [f"{name}({', '.join('{}' if at == one else '?' for at in range(count))})" for one in range(count)]


def step_of_cast(node: Node) -> str:
    """What a cast does; unread for types with parts."""
    type_ = node.get("dataType", node.get("target"))
    return f"CAST({{}} AS {type_})" if isinstance(type_, str) and _SIMPLE_TYPE.fullmatch(type_) else UNREAD


def step_of_user_function(node: Node) -> str:
    """The name of a function that is not Spark's, if the plan has it."""
    name = node.get("name") or node.get("udfName")
    return f"{name}({{}})" if isinstance(name, str) and _WORD.fullmatch(name) else UNREAD


def _part_of_text(name: str, children: Sequence[Column]) -> list[str]:
    """A part that begins with the first character and has no end is the whole text."""
    numbers = [number_of(one) for one in children[1:]]
    if name == "Substring" and numbers[:1] in (["0"], ["1"]) and numbers[1:] in ([], [_WHOLE]):
        return [f"substring({{}}, {numbers[0]})", *([UNREAD] * (len(children) - 1))]
    return steps_of_call(name.lower(), len(children))


def number_of(column: Column) -> str:
    """The number that a literal is; empty for another value."""
    type_ = column.type
    return str(type_[1]) if isinstance(type_, tuple) and type_[:1] == ("number",) else ""
