"""What a statement of DuckDB writes, by its text. Pure.

>>> head = read_head("COPY (SELECT 1 AS a) TO 'out.csv' (HEADER)")
>>> head.path, head.query
('out.csv', 'SELECT 1 AS a')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
TEMPORARY = ("temp", "main")
"""The database and schema of temporary tables and views."""


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
