"""Answers to graph questions: one snapshot for each request, in one of a few threads, in one shape.

Every graph question of the API passes `GraphRequests.answer`, and gets its graph from `open_visible_graph`, which
applies the caller's visibility.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from fastapi import Request, Response
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from whence.api.auth.guard import answered, seen, viewer_tag
from whence.api.http.envelopes import CSV, Paging, Wanted, answer_response
from whence.errors import NotYetError, QuestionsBusyError, StoreError
from whence.query.answers.completeness import graph_version
from whence.query.rendering.listings import Listing, Whole
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph
from whence.tracing import spanning

THREADS = 8
"""The most questions that are answered at a time."""
WAITING = 64
"""The most questions that wait for a thread; others are rejected, so that nobody waits for long."""


@contextmanager
def open_visible_graph(request: Request) -> Iterator[QuestionGraph]:
    """Open the read snapshot that a request queries. Every query goes through it. Raises StoreError."""
    engine: Engine = request.app.state.engine
    try:
        with reading(engine) as connection:
            yield seen(request, StoreGraph(connection, request.app.state.arrays.over(connection)))
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {str(error).splitlines()[0]}") from error


Found = TypeVar("Found")
GraphQuestion = Callable[[QuestionGraph], Listing | Whole]
"""A question: a function from the graph to its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTerms:
    """The requested form of an answer: the position `wait_for` that the graph must have reached, the page,
    the format.
    """

    wait_for: str = ""
    timeout: float = 10
    paging: Paging = field(default_factory=Paging)
    at: int | None = None


class GraphRequests:
    """Answers questions in threads. For one event loop."""

    def __init__(self, wait: Callable[[str, float], Awaitable[bool]]) -> None:
        """`wait` waits until the graph has the records at some positions, at most for the given seconds."""
        self._wait = wait
        self._threads = ThreadPoolExecutor(THREADS, "asking")
        self._open = 0

    async def answer(
        self, request: Request, terms: AnswerTerms, question: GraphQuestion, *, tagged: bool = True
    ) -> Response:
        """Answer a request. `tagged`: the answer changes only with the graph and the requested time.

        Raises StoreError, NotYetError, QuestionsBusyError, and the errors of the question.
        """
        return await self._run(terms, partial(_answer, request, terms, question, tagged))

    async def read(self, request: Request, question: Callable[[QuestionGraph], Found]) -> Found:
        """Ask the graph of a request, for an answer in another form. Raises the same errors as `answer`."""
        return await self._run(AnswerTerms(), partial(_read, request, question))

    async def _run(self, terms: AnswerTerms, work: Callable[[], Found]) -> Found:
        if self._open >= THREADS + WAITING:
            raise QuestionsBusyError
        self._open += 1
        try:
            if terms.wait_for and not await self._wait(terms.wait_for, terms.timeout):
                raise NotYetError(terms.wait_for)
            return await asyncio.get_running_loop().run_in_executor(self._threads, partial(copy_context().run, work))
        finally:
            self._open -= 1

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def requests_of(request: Request) -> GraphRequests:
    """What answers the questions of the server that got a request."""
    requests: GraphRequests = request.app.state.requests
    return requests


def _answer(request: Request, terms: AnswerTerms, question: GraphQuestion, tagged: bool) -> Response:
    wanted = Wanted.of(request)
    with spanning("answer"), open_visible_graph(request) as graph:
        tag = etag(graph, terms.at, viewer_tag(request)) if tagged else None
        if tag and wanted.has(tag):
            return wanted.unchanged(tag)
        # Rows are read on demand, so the answer is written before the snapshot ends.
        found = question(graph)
        answered(request, len(found.keys) if isinstance(found, Listing) else 1, export=wanted.form == CSV)
        return answer_response(found, terms.paging, wanted, tag)


def _read(request: Request, question: Callable[[QuestionGraph], Found]) -> Found:
    with spanning("answer"), open_visible_graph(request) as graph:
        return question(graph)


def etag(graph: QuestionGraph, at: int | None, viewer: str = "") -> str:
    """A tag that changes whenever an answer may: with the graph, retention, the requested time, and the viewer."""
    parts = (graph_version(graph), graph.forgotten_before(), at, viewer)
    return 'W/"' + ";".join("" if part is None else str(part) for part in parts) + '"'
