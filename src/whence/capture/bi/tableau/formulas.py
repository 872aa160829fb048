"""Calculated fields: Tableau's formula language as SQL, which the SQL reader reads."""

import re
from collections.abc import Callable, Iterator

from whence.errors import ArtifactError

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"]|"")*"|'(?:[^']|'')*')
    |(?P<date>\#[^#\n]*\#)
    |(?P<field>\[(?:[^\]]|\]\])*\](?:\.\[(?:[^\]]|\]\])*\])?)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
    |(?P<space>\s+)
    |(?P<sign>==|!=|<>|<=|>=|.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = {
    "IF": "CASE WHEN",
    "ELSEIF": "WHEN",
    "ATTR": "MAX",
    "STDEV": "STDDEV",
    "STDEVP": "STDDEV_POP",
    "VAR": "VARIANCE",
    "VARP": "VAR_POP",
}
_KEPT = frozenset(("THEN", "ELSE", "END", "CASE", "WHEN", "AND", "OR", "NOT", "IN", "NULL", "TRUE", "FALSE", "IIF"))
_AGGREGATES = frozenset(("SUM", "AVG", "MIN", "MAX", "COUNT", "MEDIAN", "PERCENTILE", *_KEYWORDS.values()))
_LEVELS = frozenset(("FIXED", "INCLUDE", "EXCLUDE"))
_COUNTED = re.compile(r"COUNT_DISTINCT\s*\(")
Token = tuple[str, str]


def formula_sql(formula: str, field: Callable[[str], str]) -> str:
    """A formula as SQL. `field` gives the SQL of a reference, `[a]` or `[b].[a]`. Raises ArtifactError.

    >>> formula_sql("IF [a] > 1 THEN SUM([b]) END // sum", lambda one: one.strip("[]"))
    'CASE WHEN a > 1 THEN SUM(b) END'
    """
    tokens = [token for token in _tokens(formula) if token[0] != "comment"]
    return _COUNTED.sub("COUNT(DISTINCT ", "".join(_sql(tokens, field))).strip()


def references(text: str) -> list[str]:
    """The references in a shelf or a formula, as they are written.

    >>> references("([a].[b] + [c].[d]) * 'no [x]'")
    ['[a].[b]', '[c].[d]']
    """
    return [value for kind, value in _tokens(text) if kind == "field"]


def _tokens(text: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(text):
        yield str(found.lastgroup), found[0]


def _sql(tokens: list[Token], field: Callable[[str], str]) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        kind, value = tokens[position]
        if (kind, value) == ("sign", "{"):
            end = _closing(tokens, position)
            yield _level(tokens[position + 1 : end], field)
            position = end + 1
            continue
        yield _one(kind, value, _is_called(tokens, position), field)
        position += 1


def _one(kind: str, value: str, is_called: bool, field: Callable[[str], str]) -> str:
    match kind:
        case "field":
            return field(value)
        case "text":
            return "'" + value[1:-1].replace(value[0] * 2, value[0]).replace("'", "''") + "'"
        case "date":
            return "'" + value[1:-1].replace("'", "''") + "'"
        case "word":
            return _word(value, is_called)
    return "=" if value == "==" else value


def _word(value: str, is_called: bool) -> str:
    word = _KEYWORDS.get(value.upper(), value.upper())
    if word == "COUNTD":
        return "COUNT_DISTINCT"
    if word in _KEPT or word in _AGGREGATES:
        return word
    return f"T_{word}" if is_called else value  # no function of the database is meant


def _is_called(tokens: list[Token], position: int) -> bool:
    following = next((value for kind, value in tokens[position + 1 :] if kind != "space"), "")
    return following == "("


def _level(tokens: list[Token], field: Callable[[str], str]) -> str:
    """`{FIXED [a] : SUM([b])}`: the sum of b, decided by a."""
    words = [token for token in tokens if token[0] != "space"]
    if not words or words[0][1].upper() not in _LEVELS:
        return f"({''.join(_sql(tokens, field))})"
    colon = next((at for at, token in enumerate(tokens) if token == ("sign", ":")), None)
    if colon is None:
        raise ArtifactError("", "a level of detail has no colon")
    deciding = [f"({field(value)}) IS NOT NULL" for kind, value in tokens[:colon] if kind == "field"]
    value = "".join(_sql(tokens[colon + 1 :], field))
    return f"(CASE WHEN {' AND '.join(deciding)} THEN {value} END)" if deciding else f"({value})"


def _closing(tokens: list[Token], start: int) -> int:
    depth = 0
    for position in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[position][1], 0) if tokens[position][0] == "sign" else 0
        if depth == 0:
            return position
    raise ArtifactError("", "a level of detail is not closed")
