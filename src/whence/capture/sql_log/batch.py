"""A log as events, one JSON line each: on all cores, in the order of the log, in bounded memory however large it is."""

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
"""An event as JSON, or what could not be read."""

_CHUNK = 250
_WAITING = 4
"""Chunks in work per core: so many queries are in memory at once, and no more."""
_SESSIONS = 10_000
_TEMPORARY = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:local\s+|global\s+)?temp(?:orary)?\s+(?:table|view)\s+"
    r'(?:if\s+not\s+exists\s+)?"?(?P<name>\w+)"?',
    re.IGNORECASE,
)


def event_lines(queries: Iterable[Query | Flaw], settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """The events of the queries of one log, in order; what is no query comes through as it is, a query that fails
    becomes a flaw.
    """
    return lines_of(with_temporary(queries), settings, processes)


def lines_of(queries: Iterator[Query | Flaw], settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """Likewise of queries that know their session's temporary tables.

    The order and every byte are the same with any number of processes; with one, no other process is started.
    """
    chunks = _chunks(queries)
    first = next(chunks, [])
    second = next(chunks, None)
    yield from _lines(first, settings)  # a short log is not worth starting processes
    if second is None:
        return
    rest, processes = _again(second, chunks), processes or os.cpu_count() or 1
    if processes == 1:
        yield from chain.from_iterable(_lines(chunk, settings) for chunk in rest)
    else:
        yield from _on_all_cores(rest, settings, processes)


def _on_all_cores(chunks: Iterable[list[Query | Flaw]], settings: Settings, processes: int) -> Iterator[Line]:
    spawn = get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, initializer=_begin, initargs=(settings,)) as pool:
        waiting: deque[tuple[list[Query | Flaw], Future[list[Line]]]] = deque()
        for chunk in chunks:
            waiting.append((chunk, pool.submit(_work, chunk)))
            if len(waiting) >= processes * _WAITING:
                yield from _done(*waiting.popleft())
        while waiting:
            yield from _done(*waiting.popleft())


_given: list[Settings] = []
"""Of a process of the pool: sent once, for a catalog may be large."""


def _begin(settings: Settings) -> None:
    _given.append(settings)


def _work(chunk: list[Query | Flaw]) -> list[Line]:
    return _lines(chunk, _given[0])


def _done(chunk: list[Query | Flaw], future: Future[list[Line]]) -> list[Line]:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "the process that read it was killed, as for want of memory"
        return [Flaw(one.place, reason) for one in chunk]


def _lines(chunk: list[Query | Flaw], settings: Settings) -> list[Line]:
    return [line for one in chunk for line in _lines_of(one, settings)]


def _lines_of(one: Query | Flaw, settings: Settings) -> list[Line]:
    if isinstance(one, Flaw):
        return [one]
    try:
        return [msgspec.json.encode(event) for event in query_events(one, settings)]
    except Exception as error:  # one query must not cost the others, whatever is wrong with it
        return [Flaw(one.place, f"{type(error).__name__}: {error}")]


def _chunks(queries: Iterator[Query | Flaw]) -> Iterator[list[Query | Flaw]]:
    while chunk := list(islice(queries, _CHUNK)):
        yield chunk


def _again(first: list[Query | Flaw], rest: Iterator[list[Query | Flaw]]) -> Iterator[list[Query | Flaw]]:
    yield first
    yield from rest


def with_temporary(queries: Iterable[Query | Flaw]) -> Iterator[Query | Flaw]:
    """Queries with the temporary tables of their session; sessions that were silent longest are forgotten first."""
    sessions: OrderedDict[str, tuple[str, ...]] = OrderedDict()
    for one in queries:
        if isinstance(one, Flaw) or not one.session:
            yield one
            continue
        made = tuple(found["name"] for found in _TEMPORARY.finditer(one.text))
        if known := (*sessions.pop(one.session, ()), *made):
            sessions[one.session] = tuple(dict.fromkeys(known))
            if len(sessions) > _SESSIONS:
                sessions.popitem(last=False)
        yield replace(one, temporary=sessions[one.session]) if known else one
