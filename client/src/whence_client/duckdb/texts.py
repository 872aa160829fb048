"""The text of a query: its names and calls at positions, which count bytes, and other texts in their place. Pure.

>>> read_call("FROM good('a, b', n := 1) g", 5)
Call(span=(5, 25), arguments=(('', "'a, b'"), ('n', '1')))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PART = rb"(?:\"(?:[^\"]|\"\")*\"|[\w$]+)"
_DOTTED = rb"%b(?:\.%b)*" % (_PART, _PART)
_NAME = re.compile(rb"'(?:[^']|'')*'|\?\d*(?!\w)|%b" % _DOTTED)
_CALL = re.compile(rb"%b\s*\(" % _DOTTED)
_TOKEN = re.compile(rb"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[()\[\]{},]", re.DOTALL)
_NAMED = re.compile(r"\s*(?:(\w+)\s*(?::=|=>))?\s*(.*?)\s*", re.DOTALL)
_SIMPLE = re.compile(r"'(?:[^']|'')*'|[\w.]+")

Change = tuple[int, int, str]
"""A beginning and an end in a text, and what is put there."""


@dataclass(frozen=True)
class Call:
    """A call in a text: where it is, and its arguments, each with its name, empty if it has none, and its text."""

    span: tuple[int, int]
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Macro:
    """A table macro: its query, and the names in it that may be parameters, with their positions."""

    parameters: tuple[str, ...]
    query: str
    names: tuple[tuple[str, int], ...]


def change_name(text: str, at: int, written: str) -> Change | None:
    """Another text for a name, literal or parameter; None if there is none."""
    found = _NAME.match(text.encode(), at)
    return (at, found.end(), written) if found else None


def rewrite(text: str, changes: Iterable[Change]) -> str:
    """The text with the changes, which do not overlap."""
    encoded = text.encode()
    for start, end, written in sorted(changes, reverse=True):
        encoded = encoded[:start] + written.encode() + encoded[end:]
    return encoded.decode()


def read_call(text: str, at: int) -> Call | None:
    """The call of a function by its name; None if there is none."""
    encoded = text.encode()
    begun = _CALL.match(encoded, at)
    if not begun:
        return None
    start, depth, arguments = begun.end(), 1, []
    for found in _TOKEN.finditer(encoded, start):
        token = found.group()
        depth += (token in (b"(", b"[", b"{")) - (token in (b")", b"]", b"}"))
        if depth == 0 or (depth == 1 and token == b","):
            arguments.append(_read_argument(encoded[start : found.start()].decode()))
            start = found.end()
        if depth == 0:
            return Call((at, start), tuple(one for one in arguments if one[1]))
    return None


def expand_call(call: Call, macro: Macro) -> str | None:
    """The query of a macro with the arguments of a call; None if one has a default, or is numbered by its place."""
    values = {name.lower(): value for name, value in _name_arguments(call, macro).items()}
    if values.keys() != {one.lower() for one in macro.parameters} or any("?" in one for one in values.values()):
        return None
    changes = (change_name(macro.query, at, values[name.lower()]) for name, at in macro.names if name.lower() in values)
    return rewrite(macro.query, filter(None, changes))


def _name_arguments(call: Call, macro: Macro) -> Mapping[str, str]:
    by_place = dict(zip(macro.parameters, (value for name, value in call.arguments if not name)))
    return {**by_place, **{name: value for name, value in call.arguments if name}}


def _read_argument(text: str) -> tuple[str, str]:
    found = _NAMED.fullmatch(text)
    name, value = (found[1] or "", found[2]) if found else ("", text)
    return name, value if _SIMPLE.fullmatch(value) or not value else f"({value})"
