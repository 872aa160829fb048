"""Parsing of one statement into its syntax tree, within a budget. A failed parse is retried with repaired texts."""

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from whence.capture.sql.dialects.dialects import Dialect
from whence.capture.sql.lineage import Budget
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree
from whence.capture.sql.syntax.repairs import repair_candidates
from whence.capture.sql.syntax.rewrites import rewrite_for_parser

_REPORTED_AS_OPAQUE = ("Falling back to parsing", "Invalid JSON path", "Unexpected interval unit")
logging.getLogger("sqlglot").addFilter(
    lambda record: not any(text in record.getMessage() for text in _REPORTED_AS_OPAQUE)
)
"""The answer reports what the parser cannot read (`opaque`); the host's log does not."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The trees of a statement, or the reason that there are none. `repaired`: parsed after a repair of the text."""

    nodes: tuple[tree.Node, ...]
    error: str | None = None
    repaired: bool = False
    spent: bool = False


def parse(text: str, dialect: Dialect, budget: Budget) -> Parsed:
    """Parse one statement. Never raises: the answer holds the error."""
    text = rewrite_for_parser(text, dialect)
    first = _parse(text, dialect, budget)
    if first.spent or (first.error is None and not any(_is_command(node) for node in first.nodes)):
        return first
    deadline = time.thread_time() + budget.seconds
    for candidate in repair_candidates(text, dialect):
        if time.thread_time() > deadline:
            break
        retried = _parse(candidate, dialect, budget)
        if retried.error is None and retried.nodes and not any(_is_command(node) for node in retried.nodes):
            return Parsed(retried.nodes, repaired=True)
    return first


def _is_command(node: tree.Node) -> bool:
    return isinstance(node, c.Command)


def _parse(text: str, dialect: Dialect, budget: Budget) -> Parsed:
    if len(text) > budget.tokens * 16:
        return Parsed((), f"the statement has {len(text):,} characters, more than the budget allows", spent=True)
    grammar = _grammar(dialect.parser)
    try:
        tokens = grammar.tokenize(text)
        if len(tokens) > budget.tokens:
            return Parsed((), f"the statement has {len(tokens):,} words, more than the budget allows", spent=True)
        if _nesting_depth(tokens) > budget.depth:
            return Parsed((), f"brackets nest more than {budget.depth} deep", spent=True)
        if _count_bare_joins(tokens) > _MAX_BARE_JOINS:
            return Parsed((), f"more than {_MAX_BARE_JOINS} joins in a row have no condition", spent=True)
        nodes = grammar.parser().parse(tokens, text)
    except RecursionError:
        return Parsed((), "expressions nest too deep", spent=True)
    except c.SqlglotError as error:
        return Parsed((), _error_message(error))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError) as error:
        return Parsed((), f"the parser failed: {type(error).__name__}: {error}")
    return Parsed(tuple(node for node in nodes if node is not None and not isinstance(node, c.EndStatement)))


@cache
def _grammar(name: str) -> c.Grammar:
    return c.Grammar.get_or_raise(name)


_CHANGES = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def _nesting_depth(tokens: Sequence[Any]) -> int:
    """The depth of brackets, or the length of a chain `a[1][2]…`: the parser's time grows with its cube."""
    depth = deepest = chain = 0
    previous = ""
    for token in tokens:
        text = token.text
        change = _CHANGES.get(text)
        if change is not None:
            depth = max(0, depth + change)
            chain = chain + 1 if text == "[" and previous == "]" else chain if text == "]" else 0
            deepest = max(deepest, depth, chain)
        previous = text
    return deepest


_MAX_BARE_JOINS = 12
"""In a row, without ON or USING: the parser tries each of them nested and flat, so each doubles its time."""


def _count_bare_joins(tokens: Sequence[Any]) -> int:
    """The longest sequence of joins without a condition. CROSS and NATURAL joins need none and are cheap."""
    run = longest = 0
    previous = ""
    for token in tokens:
        word = token.text.upper() if 2 <= len(token.text) <= 6 else ""
        if word == "JOIN" and previous not in ("CROSS", "NATURA"):
            run += 1
            longest = max(longest, run)
        elif word in ("ON", "USING"):
            run = max(0, run - 1)
        elif word in ("SELECT", "WHERE", "GROUP", "UNION"):
            run = 0
        previous = token.text[:6].upper()
    return longest


_TOKEN_DUMP = re.compile(r" but got <Token .*>", re.DOTALL)
"""The parser's dump of one of its tokens, which does not help the user."""


def _error_message(error: Exception) -> str:
    """The parser's error with its position in the statement. The parser does not have the position in the script."""
    first: dict[str, Any] = next(iter(getattr(error, "errors", ())), {})
    if not first.get("description"):
        return str(error).split("\n")[0][:300]
    description = _TOKEN_DUMP.sub("", first["description"]).rstrip(". ")
    return f"{description[:240]} (line {first['line']}, column {first['col']} of the statement)"
