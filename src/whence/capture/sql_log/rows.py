"""Rows of an export (CSV with a header, JSON lines, a JSON array), read as a stream; a bad row does not stop the
others.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from whence.capture.sql_log.query import Flaw

Row = dict[str, Any]
"""Keys in lower case."""

MAX_RECORD = 64 << 20
"""The greatest number of characters of one row, or of one log entry."""

_CHUNK = 1 << 20


def rows(stream: TextIO, name: str) -> Iterator[tuple[str, Row] | Flaw]:
    """Yield each row with its position, or the flaw in it. The first character determines the format."""
    first = _first(stream)
    match first[:1]:
        case "[":
            yield from _array(stream, name, first[1:])
        case "{":
            yield from _lines(stream, name, first)
        case _:
            yield from _table(stream, name, first)


def _first(stream: TextIO) -> str:
    """The beginning of the first line that is not empty. Of an array, one character, since it may be one long line."""
    while letter := stream.read(1):
        if letter == "[":
            return letter
        if not letter.isspace() and letter != "\ufeff":
            return letter + stream.readline(MAX_RECORD)
    return ""


def _lines(stream: TextIO, name: str, first: str) -> Iterator[tuple[str, Row] | Flaw]:
    line, number = first, 1
    while line:
        if line.strip():
            yield _decoded(line, f"{name}:{number}")
        line, number = stream.readline(MAX_RECORD), number + 1


def _decoded(line: str, place: str) -> tuple[str, Row] | Flaw:
    try:
        return _row(json.loads(line), place)
    except json.JSONDecodeError as error:
        return Flaw(place, f"not JSON: {error.msg} at character {error.pos + 1}")
    except (ValueError, RecursionError) as error:
        return Flaw(place, f"not JSON: {error}")


def _array(stream: TextIO, name: str, rest: str) -> Iterator[tuple[str, Row] | Flaw]:
    decoder, index = json.JSONDecoder(), 0
    while True:
        rest = rest.lstrip(" \t\r\n,")
        if rest.startswith("]"):
            return
        try:
            value, end = decoder.raw_decode(rest) if rest else (None, 0)
        except (ValueError, RecursionError):
            end = 0
        if end and end < len(rest):
            yield _row(value, f"{name}[{index}]")
            rest, index = rest[end:], index + 1
            continue
        next_chunk = stream.read(max(_CHUNK, len(rest)))
        if not next_chunk or len(rest) > MAX_RECORD:
            yield Flaw(f"{name}[{index}]", "not JSON, or cut off; what follows in this array is lost")
            return
        rest += next_chunk


def _table(stream: TextIO, name: str, first: str) -> Iterator[tuple[str, Row] | Flaw]:
    csv.field_size_limit(MAX_RECORD)
    header = [column.strip().lower() for column in _cells(first)]
    for place, cells in records(stream, name, 2):
        if len(cells) == len(header):
            yield place, dict(zip(header, cells, strict=True))
        elif cells:
            yield Flaw(place, f"{len(cells)} columns, where the header has {len(header)}")


def records(
    stream: TextIO, name: str, number: int = 1, begins: re.Pattern[str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield the records of a CSV, each with its first line. A record with several lines ends where its quotes close.

    A record whose quotes never close ends where a line begins like a record, so that later records are not lost.
    """
    held, place = "", ""
    for line in iter(lambda: stream.readline(MAX_RECORD), ""):
        if held and begins and begins.match(line):
            yield place, [held]
            held = ""
        if not held:
            place = f"{name}:{number}"
        held, number = held + line, number + 1
        if held.count('"') % 2 == 0 or len(held) > MAX_RECORD:
            yield place, _cells(held)
            held = ""
    if held:
        yield place, [held]


def _cells(record: str) -> list[str]:
    try:
        return next(csv.reader([record]), [])
    except csv.Error:
        return [record]


def _row(value: Any, place: str) -> tuple[str, Row] | Flaw:
    if not isinstance(value, dict):
        return Flaw(place, "a row must be an object")
    return place, {str(key).lower(): cell for key, cell in value.items()}


def text(row: Row, *keys: str) -> str:
    """The first nonempty cell of the keys, as text."""
    for key in keys:
        value = row.get(key)
        if value is not None and value != "":
            return value if isinstance(value, str) else json.dumps(value)
    return ""


def number(row: Row, *keys: str) -> int | None:
    """The first nonempty cell of the keys as a whole number of zero or more, or None."""
    digits = text(row, *keys).partition(".")[0]
    return int(digits) if digits.isdecimal() and digits.isascii() else None


def at(value: Any, *keys: str) -> Any:
    """The value at a path of keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def value_of(row: Row, key: str) -> Any:
    """The value of a cell that holds JSON, either parsed or as text."""
    value = row.get(key)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
