"""The capture of one Spark application: its listener, its runs, and its memory of earlier plans."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable

from whence_client.events.facets import Facet, facet
from whence_client.events.ids import new_run_id
from whence_client.events.runs import COMPLETE, FAIL, RUNNING, START, RunRef
from whence_client.process.commit import code_facets, commit_of
from whence_client.spark.capture.events import (
    Application,
    Execution,
    Failure,
    application_events,
    query_events,
    stream_events,
)
from whence_client.spark.capture.reading import SET_VARIABLE, is_analyzed, read_queries
from whence_client.spark.capture.runs import JobRuns
from whence_client.spark.capture.streams import read_stream
from whence_client.spark.capture.worker import Worker
from whence_client.spark.capture.wrapped_writes import WrappedWrites
from whence_client.spark.ml.events import model_events, model_target
from whence_client.spark.ml.models import Models
from whence_client.spark.plan.lineage import copied_columns, known_columns, set_variables
from whence_client.spark.plan.relations import Context

if TYPE_CHECKING:
    from whence_client.captures.session import Session
    from whence_client.lineage.columns import Column
    from whence_client.spark.capture.records import Query
    from whence_client.spark.ml.models import SavedModel

NAME = "spark"
MOST_KNOWN = 100_000
"""The columns of earlier plans that are remembered: the oldest go first."""

APPENDING = ""


@dataclass(frozen=True)
class Names:
    """What events call an application."""

    namespace: str
    name: str
    parent: RunRef | None = None
    run_id: str = ""
    is_automatic: bool = False
    """Nobody called `attach`."""

    @property
    def is_parent(self) -> bool:
        """Whether the application is the run around it, which reports its own start and end: they have one name."""
        around = self.parent
        return (
            self.is_automatic and around is not None and (around.namespace, around.job) == (self.namespace, self.name)
        )

    def application(self, facets: dict[str, Facet]) -> Application:
        """The application with these facets of its run."""
        if self.is_parent and self.parent is not None:
            return Application(self.parent, None, facets)
        root = (self.parent.root or self.parent) if self.parent else None
        run = RunRef(self.namespace, self.name, self.run_id or new_run_id(), root)
        return Application(run, self.parent, facets)


class SparkCapture:
    """Turns what Spark reports into events. Its methods are called from several threads; none raises."""

    def __init__(self, spark: Any, session: Session, names: Names) -> None:
        self._session = session
        self.guard = session.guard(NAME)
        self._worker = Worker(self.guard)
        engine = facet(
            "ProcessingEngineRunFacet", version=spark.version, name="spark", openlineageAdapterVersion="whence-client"
        )
        self._application = names.application({"processing_engine": engine})
        self._has_own_run = not names.is_parent
        self._runs = JobRuns(self._application.run)
        self.models = Models()
        self._known: OrderedDict[int, Column] = OrderedDict()
        self._variables: dict[str, Column] = {}
        self._wrapped = WrappedWrites()
        self._streams: dict[str, tuple[Query, Execution]] = {}
        self._has_ended = False

    @property
    def has_ended(self) -> bool:
        """Whether the end of the application was reported."""
        return self._has_ended

    def begin(self) -> None:
        """Report the start of the application."""
        began = now()
        self._worker.submit("start", lambda: self._begin(began))

    def note_success(self, action: str, execution: Any, nanoseconds: int) -> None:
        """Record a query that succeeded."""
        ended = now()
        began = ended - timedelta(microseconds=nanoseconds // 1000)
        self._worker.submit("query", lambda: self._record(action, execution, began, ended, None))

    def note_failure(self, action: str, execution: Any, error: Any) -> None:
        """Record a query that failed."""
        ended = now()
        self._worker.submit("query", lambda: self._record(action, execution, ended, ended, error))

    def note_stream_start(self, run: str, stream: Any) -> None:
        """Record a stream that started; `stream` is its Java object."""
        began = now()
        if stream is not None:
            self._worker.submit("stream", lambda: self._begin_stream(run, stream, began))

    def note_stream_end(self, run: str, error: str | None) -> None:
        """Record the end of a stream."""
        ended = now()
        self._worker.submit("stream", lambda: self._end_stream(run, ended, error))

    def remember(self, columns: dict[int, Column]) -> None:
        """Keep what columns are made of, for later plans that refer to them by expression id."""
        for number, column in columns.items():
            self._known[number] = column
            self._known.move_to_end(number)
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def context(self, query: Query) -> Context:
        """What the plan of a query refers to."""
        return Context(query.leaves, self._known, query.expansions, self.models.computed, self._variables)

    def emit_model(self, saved: SavedModel, began: datetime, ended: datetime) -> None:
        """Report that a model was saved."""
        run = self._runs.next_run(self._application.job_name(model_target(saved)), adds=False, failed=False)
        for event in model_events(saved, run, self._application, began, ended):
            self._session.emit(event, capture=NAME)

    def submit(self, what: str, task: Callable[[], None]) -> None:
        """Run a task after those of the queries so far."""
        self._worker.submit(what, task)

    def drain(self, seconds: float) -> bool:
        """Wait until every query so far is reported."""
        return self._worker.drain(seconds)

    def end(self, seconds: float, error: BaseException | None = None) -> None:
        """Report the end of the application, once, after all of its queries."""
        if self._has_ended:
            return
        self._has_ended = True
        self._worker.drain(seconds)
        failure = Failure(f"{type(error).__name__}: {error}") if error else None
        if self._has_own_run:
            event = application_events(self._application, FAIL if failure else COMPLETE, now(), failure)
            self._session.emit(event, capture=NAME)

    def _begin(self, began: datetime) -> None:
        self._application = replace(self._application, job_facets=application_code_facets())
        if self._has_own_run:
            self._session.emit(application_events(self._application, START, began), capture=NAME)

    def _record(self, action: str, execution: Any, began: datetime, ended: datetime, error: Any) -> None:
        if error is not None and not is_analyzed(execution):
            return
        for query in read_queries(action, execution):
            self.remember(copied_columns(query.plan, query.rdds, self._known))
            self._report(query, began, ended, error)

    def _report(self, query: Query, began: datetime, ended: datetime, error: Any) -> None:
        if query.command == SET_VARIABLE:
            self._variables.update(set_variables(query.plan, self.context(query)))
            return
        if query.target is None:
            self._remember_query(query)
            return
        if self._wrapped.is_reported(query) or self.models.is_part(query.target.dataset):
            return
        self._emit(query, began, ended, _failure(error))

    def _begin_stream(self, number: str, stream: Any, began: datetime) -> None:
        query = read_stream(stream)
        self._remember_query(query)
        if query.target is None:
            return
        run = RunRef(self._application.run.namespace, self._application.job_name(query.target), number)
        self._streams[number] = (query, Execution(run, began, began))
        for event in stream_events(query, self._streams[number][1], self._application, RUNNING, self._of_stream(query)):
            self._session.emit(event, capture=NAME)

    def _end_stream(self, number: str, ended: datetime, error: str | None) -> None:
        query, execution = self._streams.pop(number, (None, None))
        if query is None or execution is None:
            return
        failure = Failure(error.partition("\n")[0], error) if error else None
        done = replace(execution, ended=ended, failure=failure)
        state = FAIL if failure else COMPLETE
        for event in stream_events(query, done, self._application, state, self._of_stream(query)):
            self._session.emit(event, capture=NAME)

    def _of_stream(self, query: Query) -> Context:
        return Context(query.leaves, {}, query.expansions, self.models.computed)

    def _remember_query(self, query: Query) -> None:
        self.remember(known_columns(query.plan, self.context(query)))

    def _emit(self, query: Query, began: datetime, ended: datetime, failure: Failure | None) -> None:
        target = query.target
        if target is None:
            return
        job = self._application.job_name(target)
        run = self._runs.next_run(job, adds=target.change == APPENDING, failed=failure is not None)
        execution = Execution(run, began, ended, failure)
        for event in query_events(query, execution, self._application, self.context(query)):
            self._session.emit(event, capture=NAME)


def _failure(error: Any) -> Failure | None:
    if error is None:
        return None
    try:
        stack = [str(frame.toString()) for frame in list(error.getStackTrace())[:20]]
        return Failure(str(error.toString()), "\n".join(stack))
    except Exception:  # a Java object that cannot be asked any more
        return Failure(str(error))


def application_code_facets() -> dict[str, Any]:
    """The place and the commit of the script that is the application."""
    path = getattr(sys.modules.get("__main__"), "__file__", "") or ""
    if not path:
        return {}
    path = os.path.abspath(path)
    return code_facets(path, 0, commit_of(os.path.dirname(path)))


def now() -> datetime:
    """The time of an event that begins now."""
    return datetime.now(timezone.utc)
