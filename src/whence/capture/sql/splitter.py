"""A script's text cut into statements: at semicolons, GO, `/`, a DELIMITER; never inside quotes, comments or `$$`.

T-SQL needs no semicolons: there a statement also ends where a word begins another one (`starts.py`). Blocks are not
kept whole: what controls the flow of a procedure is cut off by `procedures.py`, so each statement in it stands alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from whence.capture.sql.dialects import Dialect
from whence.capture.sql.lineage import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one statement, and where it begins in the script."""

    text: str
    start: int
    procedural: bool = False
    head: bool = False
    """The head of a procedure: it has parameters, and no data."""
    record: str | None = None
    """A loop's record, for which this is the query."""
    condition: bool = False
    """The condition of an IF or a WHILE, as a query."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word, a bracket or an end of statement, outside of quotes and comments."""

    text: str
    start: int
    end: int


def split(text: str, dialect: Dialect) -> list[Piece]:
    """The statements of a script, in order; without empty ones. Only comments is empty."""
    if ";" not in text.rstrip("; \t\r\n") and dialect.name not in ("mysql", "oracle"):
        return list(_piece(text.rstrip("; \t\r\n"), 0, len(text.rstrip("; \t\r\n")), dialect))
    return list(cut(text, dialect, (mark for mark in marks(text, dialect) if is_end(mark.text))))


def cut(text: str, dialect: Dialect, ends: Iterator[Mark]) -> Iterator[Piece]:
    """The pieces between ends."""
    before = 0
    for mark in ends:
        yield from _piece(text, before, mark.start, dialect)
        before = mark.end
    yield from _piece(text, before, len(text), dialect)


def _piece(text: str, start: int, end: int, dialect: Dialect) -> Iterator[Piece]:
    begin = skipped(text, start, end, dialect)
    if begin < end:
        yield Piece(text[begin:end].rstrip(), begin)


def skipped(text: str, start: int, end: int, dialect: Dialect) -> int:
    """Where something else than space and comments begins; `end` if nothing does."""
    spaces = _spaces(dialect)
    while start < end:
        found = spaces.match(text, start, end)
        if found is None or found.end() == start:
            return start
        start = found.end()
    return end


def marks(text: str, dialect: Dialect, words: bool = False) -> Iterator[Mark]:
    """The ends of statements, and brackets; all words too if they are wanted."""
    pattern = _pattern(dialect, words)
    delimiter = ""
    position = 0
    while True:
        found = pattern.search(text, position)
        if found is None:
            return
        position = found.end()
        match found.lastgroup:
            case "end" | "bracket" | "word" | "line":
                yield Mark(found.group(), found.start(), found.end())
            case "delimiter":
                delimiter = found.group("new")
                pattern = _pattern(dialect, words, delimiter)
                yield Mark(";", found.start(), found.end())
            case "own":
                yield Mark(";", found.start(), found.end())
            case "nested":
                position = _comment_end(text, found.start())


def is_end(text: str) -> bool:
    return text == ";" or text.strip().upper() in ("GO", "/") or text.strip().upper().startswith("GO ")


def span_of(text: str, start: int, end: int) -> Span:
    """A place in a script, in lines and columns."""
    line = text.count("\n", 0, start) + 1
    return Span(start, end, line, start - (text.rfind("\n", 0, start) + 1) + 1)


@cache
def _pattern(dialect: Dialect, words: bool, delimiter: str = "") -> re.Pattern[str]:
    parts = []
    if dialect.name == "mysql":
        parts.append(r"(?P<delimiter>(?m:^)[ \t]*(?i:DELIMITER)[ \t]+(?P<new>\S+)[ \t]*(?=\r?\n|\Z))")
    if delimiter and delimiter != ";":
        parts.append(f"(?P<own>{re.escape(delimiter)})")
    if dialect.name == "tsql":
        parts.append(r"(?P<line>(?m:^)[ \t]*(?i:GO)(?:[ \t]+\d+)?[ \t]*(?=\r?\n|\Z))")
    if dialect.name == "oracle":
        parts.append(r"(?P<line>(?m:^)[ \t]*/[ \t]*(?=\r?\n|\Z))")
    parts += [_comments(dialect), *_strings(dialect), r"(?P<end>;)", r"(?P<bracket>[()])"]
    if words:
        parts.append(r"(?P<word>[@#A-Za-z_][\w$#@]*|:=|=|\|>|,)")
    return re.compile("|".join(parts))


def _comments(dialect: Dialect) -> str:
    block = r"(?P<nested>/\*)" if dialect.nests else r"/\*(?s:.*?)(?:\*/|\Z)"
    line = r"--[^\n]*" + (r"|\#[^\n]*" if dialect.hashes else "")
    return rf"{block}|{line}" + (r"|//[^\n]*" if dialect.name == "snowflake" else "")


def _strings(dialect: Dialect) -> Iterator[str]:
    inside = r"(?:[^'\\]|\\(?s:.)|'')*" if dialect.escapes else r"(?:[^']|'')*"
    if dialect.name in ("bigquery", "databricks", "spark"):
        yield r"'''(?s:.*?)(?:'''|\Z)|\"\"\"(?s:.*?)(?:\"\"\"|\Z)" if dialect.name == "bigquery" else r"(?!)"
    if dialect.name == "oracle":
        yield r"[qQ]'\[(?s:.*?)\]'|[qQ]'\{(?s:.*?)\}'|[qQ]'\((?s:.*?)\)'|[qQ]'<(?s:.*?)>'"
        yield r"[qQ]'(?P<q>[^\s\[{(<])(?s:.*?)(?P=q)'"
    if dialect.name in ("postgres", "redshift", "duckdb"):
        yield r"[eE]'(?:[^'\\]|\\(?s:.)|'')*(?:'|\Z)"
    yield rf"'{inside}(?:'|\Z)"
    if dialect.double_strings:
        yield r'"(?:[^"\\]|\\(?s:.)|"")*(?:"|\Z)'
    for quote in dialect.quotes + ("" if dialect.double_strings or '"' in dialect.quotes else '"'):
        yield r"\[[^\]]*\]" if quote == "[" else rf"{quote}[^{quote}]*(?:{quote}|\Z)"
    if dialect.dollars:
        yield r"(?P<dollar>\$(?:[A-Za-z_]\w*)?\$)(?s:.*?)(?:(?P=dollar)|\Z)"


@cache
def _spaces(dialect: Dialect) -> re.Pattern[str]:
    return re.compile(r"\s+|/\*(?s:.*?)(?:\*/|\Z)|--[^\n]*|;" + (r"|\#[^\n]*" if dialect.hashes else ""))


def _comment_end(text: str, start: int) -> int:
    """Behind a block comment that may hold others."""
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)
