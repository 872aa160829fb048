"""Conversion of a log into events, one JSON line each: on all cores, in the order of the log, in bounded memory."""

import os
import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain, islice
from multiprocessing import get_context

import msgspec

from whence.capture.sql_log.events import Settings, query_events
from whence.capture.sql_log.query import Flaw, Query

Line = bytes | Flaw
"""An event as JSON, or an unreadable part."""

_CHUNK = 250
_WAITING = 4
"""Chunks in progress per core; this bounds the queries in memory."""
_SESSIONS = 10_000
_TEMPORARY = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:local\s+|global\s+)?temp(?:orary)?\s+(?:table|view)\s+"
    r'(?:if\s+not\s+exists\s+)?"?(?P<name>\w+)"?',
    re.IGNORECASE,
)


def event_lines(queries: Iterable[Query | Flaw], settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """Convert the queries of one log into events, in order. Flaws pass through; a query that fails becomes a flaw."""
    return lines_of(with_temporary(queries), settings, processes)


def lines_of(queries: Iterator[Query | Flaw], settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """Convert queries that carry their session's temporary tables.

    The order and every byte are the same with any number of processes. One process means the current one.
    """
    chunks = _chunks(queries)
    first_chunk = next(chunks, [])
    second_chunk = next(chunks, None)
    yield from _lines(first_chunk, settings)  # starting processes does not pay for a short log
    if second_chunk is None:
        return
    rest, processes = _prepend(second_chunk, chunks), processes or os.cpu_count() or 1
    if processes == 1:
        yield from chain.from_iterable(_lines(chunk, settings) for chunk in rest)
    else:
        yield from _on_all_cores(rest, settings, processes)


def _on_all_cores(chunks: Iterable[list[Query | Flaw]], settings: Settings, processes: int) -> Iterator[Line]:
    spawn = get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, initializer=_set_settings, initargs=(settings,)) as pool:
        waiting: deque[tuple[list[Query | Flaw], Future[list[Line]]]] = deque()
        for chunk in chunks:
            waiting.append((chunk, pool.submit(_convert_chunk, chunk)))
            if len(waiting) >= processes * _WAITING:
                yield from _chunk_lines(*waiting.popleft())
        while waiting:
            yield from _chunk_lines(*waiting.popleft())


_process_settings: list[Settings] = []
"""The settings of a pool process, sent once, since a catalog may be large."""


def _set_settings(settings: Settings) -> None:
    _process_settings.append(settings)


def _convert_chunk(chunk: list[Query | Flaw]) -> list[Line]:
    return _lines(chunk, _process_settings[0])


def _chunk_lines(chunk: list[Query | Flaw], future: Future[list[Line]]) -> list[Line]:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "the process that read it was killed, as for want of memory"
        return [Flaw(row.place, reason) for row in chunk]


def _lines(chunk: list[Query | Flaw], settings: Settings) -> list[Line]:
    return [line for row in chunk for line in _query_lines(row, settings)]


def _query_lines(query: Query | Flaw, settings: Settings) -> list[Line]:
    if isinstance(query, Flaw):
        return [query]
    try:
        return [msgspec.json.encode(event) for event in query_events(query, settings)]
    except Exception as error:  # a query that fails must not stop the others
        return [Flaw(query.place, f"{type(error).__name__}: {error}")]


def _chunks(queries: Iterator[Query | Flaw]) -> Iterator[list[Query | Flaw]]:
    while chunk := list(islice(queries, _CHUNK)):
        yield chunk


def _prepend(first: list[Query | Flaw], rest: Iterator[list[Query | Flaw]]) -> Iterator[list[Query | Flaw]]:
    yield first
    yield from rest


Sessions = OrderedDict[str, tuple[str, ...]]
"""The temporary tables that sessions created, the session that was idle for longest first."""


def with_temporary(queries: Iterable[Query | Flaw], sessions: Sessions | None = None) -> Iterator[Query | Flaw]:
    """Add the temporary tables of its session to each query. The sessions idle for longest are dropped first.

    `sessions` begins with those of queries before, and is kept up to date.
    """
    sessions = OrderedDict() if sessions is None else sessions
    for query in queries:
        if isinstance(query, Flaw) or not query.session:
            yield query
            continue
        created = tuple(match["name"] for match in _TEMPORARY.finditer(query.text))
        if tables := (*sessions.pop(query.session, ()), *created):
            sessions[query.session] = tuple(dict.fromkeys(tables))
            if len(sessions) > _SESSIONS:
                sessions.popitem(last=False)
        yield replace(query, temporary=sessions[query.session]) if tables else query
