"""PostgreSQL's server log: stderr with its `log_line_prefix`, csvlog, jsonlog (PostgreSQL documentation, 19.8).

A statement is logged when it begins (`log_statement`) or when it ends (`log_min_duration_statement`); an error after it
repeats it. So a process's entry waits until the same process logs another, or the log ends.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TextIO

from whence.capture.sql_log.prefix import prefix_pattern
from whence.capture.sql_log.query import Flaw, Query
from whence.capture.sql_log.rows import MAX_RECORD, records, rows, text
from whence.capture.sql_log.times import moment
from whence.model.events import RunState

DEFAULT_PREFIX = "%m [%p] "

_WAITING = 10_000
_STATEMENT = re.compile(
    r"(?:duration: (?P<ms>[\d.]+) ms(?:  )?)?"
    r"(?:(?:statement|execute(?: fetch from)? [^:\n]*|fast-path function call): ?(?P<sql>.*))?",
    re.DOTALL,
)
_MESSAGE = re.compile(r"(?P<severity>[A-Z]+[1-5]?):  (?P<message>.*)", re.DOTALL)
_ERRORS = ("ERROR", "FATAL", "PANIC")
_DETAILS = ("DETAIL", "HINT", "CONTEXT", "QUERY", "STATEMENT", "LOCATION")
_HEAD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]* \w+,")
_CSV_COLUMNS = 23
"""Columns of csvlog in PostgreSQL 9 to 12; later versions append more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    place: str
    time: int
    severity: str
    message: str
    statement: str = ""
    user: str = ""
    database: str = ""
    process: str = ""
    session: str = ""
    application: str = ""
    query_id: str = ""


def stderr_log(stream: TextIO, name: str, prefix: str = DEFAULT_PREFIX) -> Iterator[Query | Flaw]:
    """Read the queries of a plain-text log whose lines begin with `log_line_prefix`."""
    return _queries(_with_statements(_plain_entries(stream, name, prefix)))


def csv_log(stream: TextIO, name: str) -> Iterator[Query | Flaw]:
    """Read the queries of a csvlog."""
    return _queries(_csv_entry(place, cells) for place, cells in records(stream, name, begins=_HEAD))


def json_log(stream: TextIO, name: str) -> Iterator[Query | Flaw]:
    """Read the queries of a jsonlog."""
    return _queries(row if isinstance(row, Flaw) else _json_entry(*row) for row in rows(stream, name))


def _queries(entries: Iterable[_Entry | Flaw]) -> Iterator[Query | Flaw]:
    waiting: OrderedDict[str, Query] = OrderedDict()
    for entry in entries:
        if isinstance(entry, Flaw):
            yield entry
            continue
        before = waiting.pop(entry.process, None)
        statement = _STATEMENT.fullmatch(entry.message) if entry.severity == "LOG" else None
        if entry.severity in _ERRORS and (entry.statement or before):
            yield from _failed_queries(entry, before)
            continue
        if before and statement and statement["ms"] and not statement["sql"]:
            yield replace(before, started=before.ended, ended=max(before.ended, entry.time))
            continue
        if before:
            yield before
        if statement and statement["sql"]:
            waiting[entry.process] = _query(entry, statement["sql"], statement["ms"])
        if len(waiting) > _WAITING:
            yield waiting.popitem(last=False)[1]
    yield from waiting.values()


def _query(entry: _Entry, sql: str, milliseconds: str | None = None) -> Query:
    lasted = int(float(milliseconds or 0) * 1_000)
    return Query(
        text=sql,
        place=entry.place,
        started=entry.time - lasted if lasted else 0,
        ended=entry.time,
        user=entry.user,
        database=entry.database,
        session=entry.session or entry.process,
        application=entry.application,
        query_id="" if entry.query_id == "0" else entry.query_id,
    )


def _failed_queries(entry: _Entry, before: Query | None) -> Iterator[Query]:
    """Yield the query that failed, behind one of its process that had ended: that has a duration, or another text."""
    query = _query(entry, entry.statement) if entry.statement else before
    if before and (before.started or (query and before.text.strip() != query.text.strip())):
        yield before
        query = query if entry.statement else None
    elif before:
        query = replace(before, started=before.ended, ended=entry.time)
    if query:
        yield replace(query, state=RunState.FAIL, error=entry.message)


def _plain_entries(stream: TextIO, name: str, prefix: str) -> Iterator[_Entry | Flaw]:
    """Yield entries, each with the following lines that begin with a tab."""
    pattern, held, place = prefix_pattern(prefix), "", ""
    for number, line in enumerate(iter(lambda: stream.readline(MAX_RECORD), ""), 1):
        if line.startswith("\t") and held and len(held) < MAX_RECORD:
            held += line[1:]
            continue
        if held:
            yield _entry(held, place, pattern)
        held, place = line if line.strip() else "", f"{name}:{number}"
    if held:
        yield _entry(held, place, pattern)


def _entry(held: str, place: str, pattern: re.Pattern[str]) -> _Entry | Flaw:
    head = pattern.match(held)
    message_match = _MESSAGE.fullmatch(held[head.end() :].rstrip("\n")) if head else None
    if not (head and message_match):
        return Flaw(place, "it does not begin as log_line_prefix says; give the server's own with --prefix")
    fields = {key: value or "" for key, value in head.groupdict().items()}
    return _Entry(
        place=place,
        time=moment(fields.get("time", "")) or moment(fields.get("epoch", "")),
        severity=message_match["severity"],
        message=message_match["message"],
        user=_without_unknown(fields.get("user", "")),
        database=_without_unknown(fields.get("database", "")),
        process=fields.get("process", "") or fields.get("session", ""),
        session=fields.get("session", ""),
        application=_without_unknown(fields.get("application", "")),
        query_id=fields.get("query_id", ""),
    )


def _with_statements(entries: Iterable[_Entry | Flaw]) -> Iterator[_Entry | Flaw]:
    """Add the STATEMENT entry after an error to it; drop other explanatory entries."""
    held: _Entry | None = None
    for entry in entries:
        if isinstance(entry, Flaw):
            yield entry
        elif entry.severity in _DETAILS:
            if held and entry.severity == "STATEMENT" and entry.process == held.process:
                held = replace(held, statement=entry.message)
        else:
            if held:
                yield held
            held = entry
    if held:
        yield held


def _csv_entry(place: str, cells: list[str]) -> _Entry | Flaw:
    if len(cells) < _CSV_COLUMNS:
        return Flaw(place, f"{len(cells)} columns, where csvlog has {_CSV_COLUMNS} or more")
    return _Entry(
        place=place,
        time=moment(cells[0]),
        user=cells[1],
        database=cells[2],
        process=cells[3],
        session=cells[5],
        severity=cells[11],
        message=cells[13],
        statement=cells[19],
        application=cells[22],
        query_id=cells[25] if len(cells) > 25 else "",
    )


def _json_entry(place: str, row: dict[str, object]) -> _Entry:
    return _Entry(
        place=place,
        time=moment(text(row, "timestamp")),
        user=text(row, "user"),
        database=text(row, "dbname"),
        process=text(row, "pid"),
        session=text(row, "session_id"),
        severity=text(row, "error_severity"),
        message=text(row, "message"),
        statement=text(row, "statement"),
        application=text(row, "application_name"),
        query_id=text(row, "query_id"),
    )


def _without_unknown(value: str) -> str:
    return "" if value == "[unknown]" else value
