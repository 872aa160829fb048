"""Pipe syntax, `FROM t |> WHERE … |> SELECT …`, rewritten as queries of queries (BigQuery, Spark, Databricks)."""

import re
from collections.abc import Callable

from whence.capture.sql.dialects import Dialect
from whence.capture.sql.splitter import Mark, marks

PIPED = ("bigquery", "spark", "databricks", "generic")
"""Dialects with pipes."""
_I = re.IGNORECASE | re.DOTALL
_GROUPED = re.compile(r"^(?P<values>.*?)(?:\bGROUP\s+(?:AND\s+ORDER\s+)?BY\s+(?P<keys>.*))?$", _I)
_ALIASED = re.compile(r"^(?P<value>.*?)(?:\s+(?:AS\s+)?(?P<alias>[\w`]+))?(?:\s+(?:ASC|DESC))?\s*$", _I)
_OPERATOR = re.compile(
    r"^(WHERE|SELECT|EXTEND|SET|DROP|RENAME|AS|AGGREGATE|ORDER\s+BY|LIMIT|DISTINCT|WINDOW|"
    r"(?:(?:INNER|LEFT|RIGHT|FULL|CROSS|OUTER)\s+)*JOIN|,|UNION|INTERSECT|EXCEPT|TABLESAMPLE|PIVOT|UNPIVOT)\b\s*(.*)$",
    _I,
)


def without_pipes(text: str, dialect: Dialect) -> str | None:
    """The statement as a query of queries; None without a pipe, or if an operator is not known."""
    found, pipes = _places(text, dialect)
    if found is None or not pipes:
        return None
    ends = [*(mark.start for mark in pipes[1:]), len(text)]
    source, name = _first(text[found.start : pipes[0].start]), ""
    for mark, end in zip(pipes, ends, strict=True):
        step = _applied(source, name, text[mark.end : end].strip(), dialect)
        if step is None:
            return None
        source, name = step
    return f"{text[: found.start]}SELECT * FROM {_named(source, name)}"


def _places(text: str, dialect: Dialect) -> tuple[Mark | None, list[Mark]]:
    """Where the query begins, and its pipes, both outside of brackets."""
    depth = 0
    found: Mark | None = None
    pipes: list[Mark] = []
    for mark in marks(text, dialect, words=True):
        depth += {"(": 1, ")": -1}.get(mark.text, 0)
        if depth == 0 and found is None and mark.text.upper() in ("FROM", "SELECT"):
            found = mark
        elif depth == 0 and mark.text == "|>":
            pipes.append(mark)
    return found, pipes


def _first(text: str) -> str:
    return text[4:].strip() if text[:4].upper() == "FROM" else f"({text.strip()})"


def _named(source: str, name: str) -> str:
    return f"{source} AS {name}" if name else source


def _applied(source: str, name: str, text: str, dialect: Dialect) -> tuple[str, str] | None:
    """A source after one operator, and its alias."""
    found = _OPERATOR.match(text)
    if found is None:
        return None
    word, rest = found[1].split()[0].upper(), found[2].strip()
    given = _named(source, name)
    if word == "AS":
        return source, rest
    if word in ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "JOIN", ",", "TABLESAMPLE", "PIVOT", "UNPIVOT"):
        return f"{given} {text}", ""
    kept = name or _own_name(source)
    if word in ("UNION", "INTERSECT", "EXCEPT"):
        return f"(SELECT * FROM {given} {text})", ""
    made = _QUERIES[word](given, rest, dialect)
    return f"({made})", kept if word in ("WHERE", "EXTEND", "SET", "ORDER", "LIMIT", "WINDOW", "DROP") else ""


def _own_name(source: str) -> str:
    """What a plain table is called by in the operators behind it."""
    found = re.fullmatch(r"[\w.`-]+(?:\s+(?:AS\s+)?([\w`]+))?", source, re.IGNORECASE)
    if found is None:
        return ""
    return found[1] or source.rpartition(".")[2].strip("`")


def _replaced(given: str, rest: str, dialect: Dialect) -> str:
    parts = (one.partition("=") for one in _listed(rest, dialect))
    values = ", ".join(f"{value.strip()} AS {column.strip()}" for column, _, value in parts)
    return f"SELECT * REPLACE ({values}) FROM {given}"


def _renamed(given: str, rest: str, dialect: Dialect) -> str:
    pairs = [_ALIASED.match(one) for one in _listed(rest, dialect)]
    named = [(one["value"], one["alias"]) for one in pairs if one is not None and one["alias"]]
    return f"SELECT * RENAME ({', '.join(f'{old} AS {new}' for old, new in named)}) FROM {given}"


def _aggregated(given: str, rest: str, dialect: Dialect) -> str:
    found = _GROUPED.match(rest)
    values = found["values"].strip() if found is not None else rest
    keys = _listed(found["keys"], dialect) if found is not None and found["keys"] else []
    plain = [one["value"] for one in map(_ALIASED.match, keys) if one is not None]
    shown = ", ".join(re.sub(r"\s+(?:ASC|DESC)\s*$", "", one, flags=re.IGNORECASE) for one in keys)
    listed = ", ".join(filter(None, (shown, values)))
    return f"SELECT {listed} FROM {given}" + (f" GROUP BY {', '.join(plain)}" if plain else "")


_QUERIES: dict[str, Callable[[str, str, Dialect], str]] = {
    "WHERE": lambda given, rest, _: f"SELECT * FROM {given} WHERE {rest}",
    "SELECT": lambda given, rest, _: f"SELECT {rest} FROM {given}",
    "EXTEND": lambda given, rest, _: f"SELECT *, {rest} FROM {given}",
    "WINDOW": lambda given, rest, _: f"SELECT *, {rest} FROM {given}",
    "DROP": lambda given, rest, _: f"SELECT * EXCEPT ({rest}) FROM {given}",
    "ORDER": lambda given, rest, _: f"SELECT * FROM {given} ORDER BY {rest}",
    "LIMIT": lambda given, rest, _: f"SELECT * FROM {given} LIMIT {rest}",
    "DISTINCT": lambda given, _rest, _: f"SELECT DISTINCT * FROM {given}",
    "SET": _replaced,
    "RENAME": _renamed,
    "AGGREGATE": _aggregated,
}


def _listed(text: str, dialect: Dialect) -> list[str]:
    """The members of a list, at commas outside of brackets and quotes."""
    depth, begin, found = 0, 0, []
    for mark in marks(text, dialect, words=True):
        depth += {"(": 1, ")": -1}.get(mark.text, 0)
        if mark.text == "," and depth == 0:
            found.append(text[begin : mark.start].strip())
            begin = mark.end
    return [*found, text[begin:].strip()]
