"""Splitting of a script into statements: at semicolons, GO, `/` or a DELIMITER; never inside quotes, comments or `$$`.

T-SQL needs no semicolons: there a word that begins a statement also ends the one before (`tsql_statement_starts.py`).
Blocks are split too: `procedures.py` removes the control flow of procedures, so each statement in them stands alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.lineage import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one statement, and its start in the script."""

    text: str
    start: int
    procedural: bool = False
    head: bool = False
    """The head of a procedure: parameters without data movement."""
    record: str | None = None
    """The record of the loop that runs over this query."""
    condition: bool = False
    """The condition of an IF or a WHILE, as a query."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word, a bracket or a statement end, outside of quotes and comments."""

    text: str
    start: int
    end: int


def split_statements(text: str, dialect: Dialect) -> list[Piece]:
    """Split a script into its statements, in order, without empty ones. A statement of only comments is empty."""
    if ";" not in text.rstrip("; \t\r\n") and dialect.name not in ("mysql", "oracle"):
        return list(_piece(text.rstrip("; \t\r\n"), 0, len(text.rstrip("; \t\r\n")), dialect))
    return list(pieces_between(text, dialect, (mark for mark in scan_marks(text, dialect) if is_end(mark.text))))


def pieces_between(text: str, dialect: Dialect, ends: Iterator[Mark]) -> Iterator[Piece]:
    """Yield the pieces between the given ends."""
    before = 0
    for mark in ends:
        yield from _piece(text, before, mark.start, dialect)
        before = mark.end
    yield from _piece(text, before, len(text), dialect)


def _piece(text: str, start: int, end: int, dialect: Dialect) -> Iterator[Piece]:
    begin = skip_blanks(text, start, end, dialect)
    if begin < end:
        yield Piece(text[begin:end].rstrip(), begin)


def skip_blanks(text: str, start: int, end: int, dialect: Dialect) -> int:
    """The position after spaces and comments, or `end` if nothing else follows."""
    spaces = _spaces(dialect)
    while start < end:
        blank = spaces.match(text, start, end)
        if blank is None or blank.end() == start:
            return start
        start = blank.end()
    return end


def scan_marks(text: str, dialect: Dialect, words: bool = False) -> Iterator[Mark]:
    """Yield statement ends and brackets, and with `words` all words too."""
    pattern = _pattern(dialect, words)
    delimiter = ""
    position = 0
    while True:
        token = pattern.search(text, position)
        if token is None:
            return
        position = token.end()
        match token.lastgroup:
            case "end" | "bracket" | "word" | "line":
                yield Mark(token.group(), token.start(), token.end())
            case "delimiter":
                delimiter = token.group("new")
                pattern = _pattern(dialect, words, delimiter)
                yield Mark(";", token.start(), token.end())
            case "own":
                yield Mark(";", token.start(), token.end())
            case "nested":
                position = _comment_end(text, token.start())


def is_end(text: str) -> bool:
    return text == ";" or text.strip().upper() in ("GO", "/") or text.strip().upper().startswith("GO ")


def span_of(text: str, start: int, end: int) -> Span:
    """The span of a range of characters, with line and column."""
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
    """The end of a block comment that may contain others."""
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)
