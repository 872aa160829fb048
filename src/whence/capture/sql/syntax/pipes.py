"""Pipe syntax, `FROM t |> WHERE … |> SELECT …`, rewritten as nested queries (BigQuery, Spark, Databricks)."""

import re
from collections.abc import Callable

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.syntax.splitter import Mark, scan_marks

PIPED = ("bigquery", "spark", "databricks", "generic")
"""Dialects with pipe syntax."""
_I = re.IGNORECASE | re.DOTALL
_GROUPED = re.compile(r"^(?P<values>.*?)(?:\bGROUP\s+(?:AND\s+ORDER\s+)?BY\s+(?P<keys>.*))?$", _I)
_ALIASED = re.compile(r"^(?P<value>.*?)(?:\s+(?:AS\s+)?(?P<alias>[\w`]+))?(?:\s+(?:ASC|DESC))?\s*$", _I)
_OPERATOR = re.compile(
    r"^(WHERE|SELECT|EXTEND|SET|DROP|RENAME|AS|AGGREGATE|ORDER\s+BY|LIMIT|DISTINCT|WINDOW|"
    r"(?:(?:INNER|LEFT|RIGHT|FULL|CROSS|OUTER)\s+)*JOIN|,|UNION|INTERSECT|EXCEPT|TABLESAMPLE|PIVOT|UNPIVOT)\b\s*(.*)$",
    _I,
)


def rewrite_pipes(text: str, dialect: Dialect) -> str | None:
    """Rewrite the statement as nested queries. Returns None without a pipe, or for an unsupported operator."""
    query_start, pipes = _find_pipes(text, dialect)
    if query_start is None or not pipes:
        return None
    ends = [*(mark.start for mark in pipes[1:]), len(text)]
    source, name = _source_of(text[query_start.start : pipes[0].start]), ""
    for mark, end in zip(pipes, ends, strict=True):
        step = _apply_operator(source, name, text[mark.end : end].strip(), dialect)
        if step is None:
            return None
        source, name = step
    return f"{text[: query_start.start]}SELECT * FROM {_with_alias(source, name)}"


def _find_pipes(text: str, dialect: Dialect) -> tuple[Mark | None, list[Mark]]:
    """The first word of the query, and its pipes, outside of brackets."""
    depth = 0
    query_start: Mark | None = None
    pipes: list[Mark] = []
    for mark in scan_marks(text, dialect, words=True):
        depth += {"(": 1, ")": -1}.get(mark.text, 0)
        if depth == 0 and query_start is None and mark.text.upper() in ("FROM", "SELECT"):
            query_start = mark
        elif depth == 0 and mark.text == "|>":
            pipes.append(mark)
    return query_start, pipes


def _source_of(text: str) -> str:
    return text[4:].strip() if text[:4].upper() == "FROM" else f"({text.strip()})"


def _with_alias(source: str, name: str) -> str:
    return f"{source} AS {name}" if name else source


def _apply_operator(source: str, name: str, text: str, dialect: Dialect) -> tuple[str, str] | None:
    """The source after one operator, and its alias. Returns None for an unsupported operator."""
    operator = _OPERATOR.match(text)
    if operator is None:
        return None
    word, rest = operator[1].split()[0].upper(), operator[2].strip()
    source_text = _with_alias(source, name)
    if word == "AS":
        return source, rest
    if word in ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "JOIN", ",", "TABLESAMPLE", "PIVOT", "UNPIVOT"):
        return f"{source_text} {text}", ""
    alias = name or _table_alias(source)
    if word in ("UNION", "INTERSECT", "EXCEPT"):
        return f"(SELECT * FROM {source_text} {text})", ""
    query = _QUERIES[word](source_text, rest, dialect)
    return f"({query})", alias if word in ("WHERE", "EXTEND", "SET", "ORDER", "LIMIT", "WINDOW", "DROP") else ""


def _table_alias(source: str) -> str:
    """The name by which later operators refer to a plain table."""
    table = re.fullmatch(r"[\w.`-]+(?:\s+(?:AS\s+)?([\w`]+))?", source, re.IGNORECASE)
    if table is None:
        return ""
    return table[1] or source.rpartition(".")[2].strip("`")


def _replace_columns(source_text: str, rest: str, dialect: Dialect) -> str:
    parts = (item.partition("=") for item in _split_list(rest, dialect))
    values = ", ".join(f"{value.strip()} AS {column.strip()}" for column, _, value in parts)
    return f"SELECT * REPLACE ({values}) FROM {source_text}"


def _rename_columns(source_text: str, rest: str, dialect: Dialect) -> str:
    pairs = [_ALIASED.match(item) for item in _split_list(rest, dialect)]
    named = [(pair["value"], pair["alias"]) for pair in pairs if pair is not None and pair["alias"]]
    return f"SELECT * RENAME ({', '.join(f'{old} AS {new}' for old, new in named)}) FROM {source_text}"


def _aggregate(source_text: str, rest: str, dialect: Dialect) -> str:
    clauses = _GROUPED.match(rest)
    values = clauses["values"].strip() if clauses is not None else rest
    keys = _split_list(clauses["keys"], dialect) if clauses is not None and clauses["keys"] else []
    plain = [match["value"] for match in map(_ALIASED.match, keys) if match is not None]
    key_items = ", ".join(re.sub(r"\s+(?:ASC|DESC)\s*$", "", key, flags=re.IGNORECASE) for key in keys)
    items = ", ".join(filter(None, (key_items, values)))
    return f"SELECT {items} FROM {source_text}" + (f" GROUP BY {', '.join(plain)}" if plain else "")


_QUERIES: dict[str, Callable[[str, str, Dialect], str]] = {
    "WHERE": lambda given, rest, _: f"SELECT * FROM {given} WHERE {rest}",
    "SELECT": lambda given, rest, _: f"SELECT {rest} FROM {given}",
    "EXTEND": lambda given, rest, _: f"SELECT *, {rest} FROM {given}",
    "WINDOW": lambda given, rest, _: f"SELECT *, {rest} FROM {given}",
    "DROP": lambda given, rest, _: f"SELECT * EXCEPT ({rest}) FROM {given}",
    "ORDER": lambda given, rest, _: f"SELECT * FROM {given} ORDER BY {rest}",
    "LIMIT": lambda given, rest, _: f"SELECT * FROM {given} LIMIT {rest}",
    "DISTINCT": lambda given, _rest, _: f"SELECT DISTINCT * FROM {given}",
    "SET": _replace_columns,
    "RENAME": _rename_columns,
    "AGGREGATE": _aggregate,
}


def _split_list(text: str, dialect: Dialect) -> list[str]:
    """Split a list at the commas outside of brackets and quotes."""
    depth, begin, members = 0, 0, []
    for mark in scan_marks(text, dialect, words=True):
        depth += {"(": 1, ")": -1}.get(mark.text, 0)
        if mark.text == "," and depth == 0:
            members.append(text[begin : mark.start].strip())
            begin = mark.end
    return [*members, text[begin:].strip()]
