"""One statement's text to its syntax tree, within a budget; with the repairs that a first failure calls for."""

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.dialects import Dialect
from whence.capture.sql.lineage import Budget
from whence.capture.sql.repairs import repaired
from whence.capture.sql.rewrites import rewritten

_SAID_ELSEWHERE = ("Falling back to parsing", "Invalid JSON path", "Unexpected interval unit")
logging.getLogger("sqlglot").addFilter(lambda record: not any(text in record.getMessage() for text in _SAID_ELSEWHERE))
"""What the parser cannot read is in the answer (`opaque`), not in the host's log."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The trees of a statement, or why there are none. `repaired`: it was read after a repair of its text."""

    nodes: tuple[tree.Node, ...]
    error: str | None = None
    repaired: bool = False
    spent: bool = False


def parse(text: str, dialect: Dialect, budget: Budget) -> Parsed:
    """The statement's tree. Never raises: what cannot be read is an error in the answer."""
    text = rewritten(text, dialect)
    first = _parse(text, dialect, budget)
    if first.spent or (first.error is None and not any(_is_command(node) for node in first.nodes)):
        return first
    deadline = time.thread_time() + budget.seconds
    for other in repaired(text, dialect):
        if time.thread_time() > deadline:
            break
        again = _parse(other, dialect, budget)
        if again.error is None and again.nodes and not any(_is_command(node) for node in again.nodes):
            return Parsed(again.nodes, repaired=True)
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
        if _depth(tokens) > budget.depth:
            return Parsed((), f"brackets nest more than {budget.depth} deep", spent=True)
        if _bare_joins(tokens) > _BARE_JOINS:
            return Parsed((), f"more than {_BARE_JOINS} joins in a row have no condition", spent=True)
        nodes = grammar.parser().parse(tokens, text)
    except RecursionError:
        return Parsed((), "expressions nest too deep", spent=True)
    except c.SqlglotError as error:
        return Parsed((), _message(error))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError) as error:
        return Parsed((), f"the parser failed: {type(error).__name__}: {error}")
    return Parsed(tuple(node for node in nodes if node is not None and not isinstance(node, c.EndStatement)))


@cache
def _grammar(name: str) -> c.Grammar:
    return c.Grammar.get_or_raise(name)


_CHANGES = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def _depth(tokens: Sequence[Any]) -> int:
    """How deep brackets nest, or how long a chain `a[1][2]…` is: the parser's time grows with the cube of that."""
    depth = deepest = chain = 0
    before = ""
    for token in tokens:
        text = token.text
        change = _CHANGES.get(text)
        if change is not None:
            depth = max(0, depth + change)
            chain = chain + 1 if text == "[" and before == "]" else chain if text == "]" else 0
            deepest = max(deepest, depth, chain)
        before = text
    return deepest


_BARE_JOINS = 12
"""In a row, without ON or USING: the parser tries each of them nested and flat, so its time doubles with every one."""


def _bare_joins(tokens: Sequence[Any]) -> int:
    """The longest row of joins without a condition; CROSS and NATURAL joins have none, and cost nothing."""
    run = longest = 0
    before = ""
    for token in tokens:
        word = token.text.upper() if 2 <= len(token.text) <= 6 else ""
        if word == "JOIN" and before not in ("CROSS", "NATURA"):
            run += 1
            longest = max(longest, run)
        elif word in ("ON", "USING"):
            run = max(0, run - 1)
        elif word in ("SELECT", "WHERE", "GROUP", "UNION"):
            run = 0
        before = token.text[:6].upper()
    return longest


_GOT = re.compile(r" but got <Token .*>", re.DOTALL)
"""How the parser prints a token of its own: nothing that helps."""


def _message(error: Exception) -> str:
    """What is wrong, and where in the statement: the parser does not know in which place of a script that stands."""
    first: dict[str, Any] = next(iter(getattr(error, "errors", ())), {})
    if not first.get("description"):
        return str(error).split("\n")[0][:300]
    said = _GOT.sub("", first["description"]).rstrip(". ")
    return f"{said[:240]} (line {first['line']}, column {first['col']} of the statement)"
