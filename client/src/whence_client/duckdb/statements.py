"""What a statement of DuckDB reads and writes, by its text and the syntax tree that DuckDB gives of its query. Pure.

>>> head = read_head("COPY (SELECT 1 AS a) TO 'out.csv' (HEADER)")
>>> head.path, head.query
('out.csv', 'SELECT 1 AS a')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PART = r'(?:"(?:[^"]|"")+"|[\w$]+)'
_NAME = rf"{_PART}(?:\.{_PART})*"
_TEXT = r"'(?:[^']|'')*'"
_SKIPPED = re.compile(rf"{_TEXT}|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CREATE = re.compile(
    rf"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?P<temporary>TEMP\s+|TEMPORARY\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>{_NAME})"
    r"\s*(?:\([^()]*\)\s*)?AS\s+",
    re.IGNORECASE,
)
_INSERT = re.compile(
    rf"\s*INSERT\s+(?:OR\s+\w+\s+)?INTO\s+(?P<name>{_NAME})\s*(?:BY\s+(?:NAME|POSITION)\s+)?(?:\([^()]*\)\s*)?"
    r"(?=SELECT\b|FROM\b|WITH\b|\()",
    re.IGNORECASE,
)
_INSERT_END = re.compile(rf"({_TEXT}|\"(?:[^\"]|\"\")*\")|\s+(?:ON\s+CONFLICT|RETURNING)\b", re.IGNORECASE)
"""Where the query of an INSERT ends; literals and quoted names are group 1."""
_COPY_IN = re.compile(rf"\s*COPY\s+(?P<name>{_NAME})\s*(?:\([^()]*\)\s*)?FROM\s+(?P<path>{_TEXT})", re.IGNORECASE)
_COPY_TABLE = re.compile(rf"\s*COPY\s+(?P<name>{_NAME})\s+TO\s+(?P<path>{_TEXT})", re.IGNORECASE)
_COPY_QUERY = re.compile(rf"\s*COPY\s*\((?P<query>.*)\)\s*TO\s+(?P<path>{_TEXT})", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(r"\s*(?:SELECT|FROM|WITH|\()", re.IGNORECASE)
_NOWHERE = 2**64 - 1
"""The position of a parameter in the trees of DuckDB 1."""
TEMPORARY = ("temp", "main")
"""The database and schema of temporary tables and views."""
_READERS = frozenset(
    (
        "read_csv",
        "read_csv_auto",
        "read_parquet",
        "parquet_scan",
        "read_json",
        "read_json_auto",
        "read_ndjson",
        "read_text",
    )
)
_GENERATORS = frozenset(("generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest"))
"""Table functions that read nothing beyond their arguments. The system's own begin with one of `_SYSTEM`."""
_SYSTEM = ("duckdb_", "pragma_")


@dataclass(frozen=True)
class Head:
    """A statement without its query. `table` or `path` is what it writes; `source_path` is the file of a COPY into it.

    `query` begins at the position `at` of the text; `span` are the positions of the name of `table`.
    """

    table: tuple[str, ...] = ()
    path: str = ""
    source_path: str = ""
    query: str = ""
    at: int = 0
    span: tuple[int, int] = (0, 0)

    @property
    def is_write(self) -> bool:
        """Whether it writes something that lasts beyond its result."""
        return bool(self.table or self.path)


@dataclass(frozen=True)
class Source:
    """A table or the files of a query; `spans` are the positions and lengths of the files' literals in it.

    `function` is the table function of files, or of what only the function knows.
    """

    table: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    function: str = ""


def read_head(text: str) -> Head | None:
    """What a statement writes, and its query; None for statements that neither read nor write data."""
    plain = _SKIPPED.sub(_blank_comment, text)
    for pattern in (_CREATE, _INSERT):
        found = pattern.match(plain)
        if found:
            query = text[found.end() : _query_end(plain, found.end()) if pattern is _INSERT else len(text)]
            name = split_name(found["name"])
            is_temporary = pattern is _CREATE and bool(found["temporary"]) and len(name) == 1
            return Head(
                (*TEMPORARY, *name) if is_temporary else name, query=query, at=found.end(), span=found.span("name")
            )
    found = _COPY_IN.match(plain)
    if found:
        return Head(split_name(found["name"]), source_path=unquote(found["path"]))
    found = _COPY_TABLE.match(plain)
    if found:
        return Head(path=unquote(found["path"]), query=f"FROM {found['name']}")
    found = _COPY_QUERY.match(plain)
    if found:
        return Head(
            path=unquote(found["path"]), query=text[found.start("query") : found.end("query")], at=found.start("query")
        )
    return Head(query=text) if _QUERY.match(plain) else None


def _query_end(plain: str, at: int) -> int:
    ends = (found.start() for found in _INSERT_END.finditer(plain, at) if not found[1])
    return next(ends, len(plain))


def read_sources(tree: Any, parameters: Mapping[str, Any]) -> list[Source]:
    """The tables and files of a query's syntax tree (`json_serialize_sql`), without its common table expressions.

    `parameters` are the values of a prepared statement, by name or by number.
    """
    found: dict[Source, None] = {}
    for source in _walk(tree, frozenset(), parameters):
        found.setdefault(source)
    return list(found)


def _walk(node: Any, common: frozenset[str], parameters: Mapping[str, Any]) -> Iterator[Source]:
    if isinstance(node, list):
        for one in node:
            yield from _walk(one, common, parameters)
    elif isinstance(node, dict):
        names = {str(one["key"]).lower() for one in (node.get("cte_map") or {}).get("map", ())}
        common = common | names
        if node.get("type") == "BASE_TABLE":
            yield from _base_table(node, common)
        elif node.get("type") == "TABLE_FUNCTION":
            yield from _table_function(node.get("function") or {}, parameters)
        for one in node.values():
            yield from _walk(one, common, parameters)


def _base_table(node: dict[str, Any], common: frozenset[str]) -> Iterator[Source]:
    parts = tuple(part for part in (node.get("catalog_name"), node.get("schema_name"), node.get("table_name")) if part)
    if parts and not (len(parts) == 1 and parts[0].lower() in common):
        yield Source(parts, spans=((int(node["query_location"]), int(node.get("query_location_length", 0))),))


def _table_function(function: dict[str, Any], parameters: Mapping[str, Any]) -> Iterator[Source]:
    name = str(function.get("function_name", "")).lower()
    if name in _GENERATORS or name.startswith(_SYSTEM):
        return
    arguments = [one.get("expression", one) for one in function.get("arguments") or function.get("children") or ()]
    constants = list(_constants(arguments[0], parameters)) if name in _READERS and arguments else []
    yield Source(paths=tuple(path for path, _ in constants), spans=tuple(span for _, span in constants), function=name)


def _constants(node: dict[str, Any], parameters: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The texts of an argument: one, or the items of a list; literals, or parameters."""
    text = parameters.get(str(node.get("identifier", "")), _text_of(node))
    if isinstance(text, str) and int(node["query_location"]) != _NOWHERE:
        yield text, (int(node["query_location"]), int(node.get("query_location_length", 0)))
    elif node.get("function_name") == "list_value":
        for one in node.get("arguments") or node.get("children") or ():
            yield from _constants(one.get("expression", one), parameters)


def _text_of(node: dict[str, Any]) -> str | None:
    """The text that a node is a literal of: DuckDB 2 has `literal`, DuckDB 1 `value`."""
    literal, value = node.get("literal") or {}, node.get("value") or {}
    if literal.get("kind") == "STRING":
        return str(literal["text"])
    return str(value["value"]) if (value.get("type") or {}).get("id") == "VARCHAR" else None


def split_name(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, without quotes.

    >>> split_name('"my db".main.t')
    ('my db', 'main', 't')
    """
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in re.findall(_PART, name))


def unquote(literal: str) -> str:
    """The text of a literal."""
    return literal[1:-1].replace("''", "'")


def quote(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(parts: Iterable[str]) -> str:
    """A name of several parts as SQL writes it."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def _blank_comment(found: re.Match[str]) -> str:
    text = found.group()
    return re.sub(r"[^\n]", " ", text) if text.startswith(("--", "/*")) else text
