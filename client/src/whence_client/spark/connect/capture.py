"""The capture of one Spark Connect session: its commands become the events of an application's queries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whence_client.events.facets import facet
from whence_client.events.runs import COMPLETE, FAIL, RUNNING, START, RunRef
from whence_client.lineage.columns import Column
from whence_client.spark.capture.capture import MOST_KNOWN, NAME, Names, application_code_facets, now
from whence_client.spark.capture.events import (
    Execution,
    Failure,
    application_events,
    query_events,
    stream_events,
)
from whence_client.spark.capture.records import Query
from whence_client.spark.capture.runs import JobRuns
from whence_client.spark.capture.worker import Worker
from whence_client.spark.connect.commands import (
    CHECKPOINT,
    MERGE,
    SQL,
    STREAM,
    Command,
    changes_names,
    has_stream_ended,
    is_function_of_stream,
    read_command,
)
from whence_client.spark.connect.explanation import Explanation, has_columns, read_explanation
from whence_client.spark.connect.names import Sources, expand_views, name_leaves, name_target
from whence_client.spark.connect.server import Server
from whence_client.spark.plan.lineage import known_columns
from whence_client.spark.plan.relations import Context, read_relation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from whence_client.captures.session import Session
    from whence_client.spark.plan.attributes import Leaf

_BARRIER_SECONDS = 2.0
"""How long a command that changes the meaning of names waits for the explanations of those before it."""


@dataclass
class Pending:
    """A command that runs. The thread of the capture fills in what its query is."""

    command: Command
    began: datetime
    explained: Explanation | None = None
    leaves: Mapping[int, Leaf] = field(default_factory=dict)
    symlinks: tuple[Any, ...] = ()


class ConnectCapture:
    """Turns the commands of a client into events. Its methods do not raise, and ask the server off the job's thread."""

    def __init__(self, client: Any, version: str, session: Session, names: Names) -> None:
        self._session = session
        self.guard = session.guard(NAME)
        self._worker = Worker(self.guard)
        self._server = Server(client)
        engine = facet(
            "ProcessingEngineRunFacet", version=version, name="spark", openlineageAdapterVersion="whence-client"
        )
        self._application = names.application({"processing_engine": engine})
        self._has_own_run = not names.is_parent
        self._runs = JobRuns(self._application.run)
        self._views: dict[str, list[Any]] = {}
        self._known: dict[int, Column] = {}
        self._streams: dict[str, tuple[Query, Execution]] = {}
        self.has_ended = False

    def begin(self) -> None:
        """Report the start of the application."""
        began = now()
        self._worker.submit("start", lambda: self._begin(began))

    def note_begin(self, command: Any) -> Pending | None:
        """Record a command before it runs; None if it moves no data."""
        if is_function_of_stream(command):
            self.guard.note("stream", "what a Python function writes of each batch is not captured over Spark Connect")
        found = read_command(command)
        if found is None:
            return None
        pending = Pending(found, now())
        self._worker.submit("query", lambda: self._explain(pending))
        return pending

    def wait_for_names(self, command: Any) -> None:
        """Before a command that changes the meaning of names: let the commands before it be explained."""
        if changes_names(command):
            self._worker.drain(_BARRIER_SECONDS)

    def note_view(self, view: Any) -> None:
        """Record what a temporary view reads."""
        reads = expand_views(view.input, self._views)
        self._views[view.name] = reads

    def note_end(self, pending: Pending, properties: Mapping[str, Any], error: BaseException | None) -> None:
        """Record that a command is done. `properties` are what the client returned of it."""
        ended = now()
        self._worker.submit("query", lambda: self._record(pending, ended, properties, error))

    def note_stream(self, question: Any, answer: Any, error: BaseException | None) -> None:
        """Record whether a stream has ended, by a question about it and its answer, both messages."""
        number, ended = str(question.query_id.run_id), now()
        if error is not None or has_stream_ended(question, answer):
            self._worker.submit("stream", lambda: self._end_stream(number, ended, error))

    def note_names(self) -> None:
        """Record that tables may be others now."""
        self._worker.submit("tables", self._server.forget)

    def drain(self, seconds: float) -> bool:
        """Wait until every command so far is reported."""
        return self._worker.drain(seconds)

    def end(self, seconds: float, error: BaseException | None = None) -> None:
        """Report the end of the application, once, after all of its commands."""
        if self.has_ended:
            return
        self.has_ended = True
        self._worker.drain(seconds)
        failure = Failure(f"{type(error).__name__}: {error}") if error else None
        if self._has_own_run:
            event = application_events(self._application, FAIL if failure else COMPLETE, now(), failure)
            self._session.emit(event, capture=NAME)

    def _begin(self, began: datetime) -> None:
        self._application = replace(self._application, job_facets=application_code_facets())
        if self._has_own_run:
            self._session.emit(application_events(self._application, START, began), capture=NAME)

    def _explain(self, pending: Pending) -> None:
        command = pending.command
        text = (
            self._server.explain_command(command.query) if command.kind == SQL else self._server.explain(command.query)
        )
        explained = read_explanation(text)
        reads = [] if command.kind == SQL else expand_views(command.query, self._views)
        sources = Sources(reads, dict(self._views), command.text)
        leaves, symlinks = name_leaves(explained, sources, self._server)
        pending.leaves, pending.symlinks = leaves, tuple(symlinks.items())
        pending.explained = explained

    def _record(
        self, pending: Pending, ended: datetime, properties: Mapping[str, Any], error: BaseException | None
    ) -> None:
        explained = pending.explained or Explanation([])
        if pending.command.kind == CHECKPOINT:
            self._remember(pending, properties)
            return
        target = name_target(pending.command, explained, self._server)
        if target is None:
            return
        is_read = has_columns(explained) and pending.command.kind != MERGE
        if not is_read:
            what = explained.command or pending.command.kind
            self.guard.note("columns", f"{what} has no column lineage over Spark Connect")
        query = Query(
            pending.command.kind,
            explained.command,
            explained.plan if is_read else [],
            pending.leaves,
            target=target,
            symlinks=pending.symlinks,
            sql=pending.command.text,
            schema=explained.schema,
        )
        job = self._application.job_name(target)
        if query.action == STREAM and error is None:
            self._begin_stream(query, job, pending.began, properties)
            return
        run = self._runs.next_run(job, adds=not target.change, failed=error is not None)
        execution = Execution(run, pending.began, ended, _failure(error))
        for event in query_events(query, execution, self._application, self._context(query.leaves)):
            self._session.emit(event, capture=NAME)

    def _begin_stream(self, query: Query, job: str, began: datetime, properties: Mapping[str, Any]) -> None:
        number = str(properties["write_stream_operation_start_result"].query_id.run_id)
        execution = Execution(RunRef(self._application.run.namespace, job, number), began, began)
        self._streams[number] = (query, execution)
        self._emit_stream(query, execution, RUNNING)

    def _end_stream(self, number: str, ended: datetime, error: BaseException | None) -> None:
        query, execution = self._streams.pop(number, (None, None))
        if query is not None and execution is not None:
            done = replace(execution, ended=ended, failure=_failure(error))
            self._emit_stream(query, done, FAIL if error else COMPLETE)

    def _emit_stream(self, query: Query, execution: Execution, state: str) -> None:
        context = self._context(query.leaves)
        for event in stream_events(query, execution, self._application, state, context):
            self._session.emit(event, capture=NAME)

    def _context(self, leaves: Mapping[int, Leaf]) -> Context:
        return Context(leaves, self._known)

    def _remember(self, pending: Pending, properties: Mapping[str, Any]) -> None:
        """Keep what a checkpoint is made of: later plans refer to the ids of its own columns."""
        cached = properties.get("checkpoint_command_result")
        if pending.explained is None or cached is None:
            return
        made = read_relation(pending.explained.plan, self._context(pending.leaves))
        columns = list(known_columns(pending.explained.plan, self._context(pending.leaves)).values())
        number = str(cached._plan._relation_id)
        kept = read_explanation(self._server.explain(self._server.cached_relation(number)))
        output = read_relation(kept.plan, Context()).output
        if len(output) == len(made.output) == len(columns):
            self._known.update(zip((one.id for one in output), columns))
        while len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]


def _failure(error: BaseException | None) -> Failure | None:
    return Failure(f"{type(error).__name__}: {error}") if error is not None else None
