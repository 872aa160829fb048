"""Expressions in which column lineage is declared: which columns a text in SQL's notation refers to, and how.

It is a reader of single expressions, not of SQL: functions, operators, CASE, OVER, and the clauses behind them.

>>> [(one.name, one.type, one.subtype) for one in read_expression("sum(amount) group by region")]
[('amount', 'DIRECT', 'AGGREGATION'), ('region', 'INDIRECT', 'GROUP_BY')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whence_client.events.columns import DIRECT, INDIRECT

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^']|'')*')
    | (?P<number>\d[\w.]*)
    | (?P<name>(?:[^\W\d][\w$]*|"(?:[^"]|"")+"|`[^`]+`)(?:\s*\.\s*(?:[^\W\d][\w$]*|"(?:[^"]|"")+"|`[^`]+`))*)
    | (?P<sign>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(r'"((?:[^"]|"")+)"|`([^`]+)`|([^\W\d][\w$]*)')


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AGGREGATES = _words(
    "sum avg mean median mode count count_distinct approx_count_distinct min max first last any_value stddev std var "
    "variance percentile percentile_cont percentile_disc quantile array_agg collect_list collect_set string_agg "
    "group_concat listagg bool_and bool_or every some corr covar_pop covar_samp nunique"
)
_MASKING = _words(
    "count count_distinct approx_count_distinct nunique crc32 md5 sha sha1 sha2 sha256 sha512 hash xxhash64 mask"
)
_KEYWORDS = _words(
    "and or not in is null like ilike rlike between distinct true false then else end when case over partition by "
    "order rows range preceding following current row unbounded asc desc nulls first last filter where group having "
    "interval as all any escape within from for at time zone ignore respect"
)
_CLAUSES = {"where": "FILTER", "having": "FILTER", "group": "GROUP_BY", "order": "SORT", "over": "WINDOW"}


@dataclass(frozen=True)
class Reference:
    """A column in an expression. `qualifier`: the names before it, dotted; empty if there are none."""

    qualifier: str
    name: str
    type: str
    subtype: str
    masking: bool = False


@dataclass
class _Frame:
    """What holds inside of one pair of brackets."""

    function: str = ""
    way: str = ""
    """The INDIRECT subtype of what is inside; empty if it is DIRECT."""
    is_aggregate: bool = False
    is_masking: bool = False
    argument: int = 0


def read_expression(text: str) -> list[Reference]:
    """The columns that a text refers to, in its order."""
    tokens = [(found.lastgroup or "", found.group(found.lastgroup or 0)) for found in _TOKEN.finditer(text.strip())]
    references = list(dict.fromkeys(_references(tokens)))
    if len(tokens) == 1 and len(references) == 1:
        only = references[0]
        return [Reference(only.qualifier, only.name, DIRECT, "IDENTITY")]
    return references


def _references(tokens: list[tuple[str, str]]) -> Iterator[Reference]:
    frames, cases, skips = [_Frame()], list[str](), False
    for index, (kind, text) in enumerate(tokens):
        follower = tokens[index + 1] if index + 1 < len(tokens) else ("", "")
        word = text.lower()
        if kind == "sign":
            _bracket(frames, text)
        elif kind != "name":
            continue
        elif skips:
            skips = follower[1] == "."
        elif word in _KEYWORDS and not (follower[1] == "(" and word in ("first", "last", "any")):
            _keyword(frames, cases, word)
            skips = word == "as"
        elif follower[1] == "(":
            frames[-1].function = word
        elif follower[0] != "text":  # date '2026-01-01' is a literal
            yield _reference(text, frames, cases)


def _bracket(frames: list[_Frame], sign: str) -> None:
    top = frames[-1]
    if sign == "(":
        frames.append(
            _Frame(
                function=top.function,
                way=top.way,
                is_aggregate=top.is_aggregate or top.function in _AGGREGATES,
                is_masking=top.is_masking or top.function in _MASKING,
            )
        )
        top.function = ""
    elif sign == ")" and len(frames) > 1:
        frames.pop()
        if frames[-1].way in ("WINDOW", "FILTER") and len(frames) == 1:
            frames[-1].way = ""
    elif sign == "," and top.function in ("if", "iff", "iif"):
        top.argument += 1


def _keyword(frames: list[_Frame], cases: list[str], word: str) -> None:
    if word == "case":
        cases.append("CONDITIONAL")
    elif word == "end" and cases:
        cases.pop()
    elif word in ("when", "then", "else") and cases:
        cases[-1] = "CONDITIONAL" if word == "when" else ""
    elif word == "filter":
        frames[-1].way = "FILTER"
    elif word in _CLAUSES and frames[-1].way != "WINDOW":
        frames[-1].way = _CLAUSES[word]


def _reference(text: str, frames: list[_Frame], cases: list[str]) -> Reference:
    parts = [quoted.replace('""', '"') or ticked or plain for quoted, ticked, plain in _PART.findall(text)]
    qualifier, top = ".".join(parts[:-1]), frames[-1]
    is_condition = top.function in ("if", "iff", "iif") and top.argument == 0
    way = top.way or next((case for case in reversed(cases) if case), "") or ("CONDITIONAL" if is_condition else "")
    if way:
        return Reference(qualifier, parts[-1], INDIRECT, way)
    subtype = "AGGREGATION" if top.is_aggregate else "TRANSFORMATION"
    return Reference(qualifier, parts[-1], DIRECT, subtype, top.is_masking)
