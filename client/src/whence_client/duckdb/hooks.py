"""The capture of DuckDB: hooks where SQL is run, where relations are written, and where results become frames."""

from __future__ import annotations

import functools
import re
import sys
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once
from whence_client.captures.session import Session
from whence_client.duckdb.catalog import FRAMES, Catalog, Named
from whence_client.duckdb.records import Statement, statement_event
from whence_client.duckdb.relations import Relations, call_for, find_sources, text_of
from whence_client.duckdb.statements import Head, quote, quote_name, read_head, split_name
from whence_client.events.datasets import Dataset, Field
from whence_client.events.facets import Event
from whence_client.events.ids import new_run_id
from whence_client.frames.frames import FrameLineage, read_frame
from whence_client.frames.memory import memory_of
from whence_client.frames.pending import PendingDataset
from whence_client.frames.writes import describe_write, script_name, short_name, write_event
from whence_client.lineage.columns import Column, read_column
from whence_client.lineage.columns import Dataset as Source

_RUNS = ("execute", "sql", "query", "from_query")
_FILES = ("write_parquet", "to_parquet", "write_csv", "to_csv")
_TABLES = ("create", "to_table", "insert_into")
_FRAMES = ("df", "to_df", "fetchdf", "fetch_df", "pl")
_WORD = re.compile(r"[\w$]+")
_TEMPORARY = re.compile(r"\bTEMP(?:ORARY)?\b\s*", re.IGNORECASE)
_INSERT = re.compile(r"\s*INSERT\b", re.IGNORECASE)


@dataclass(frozen=True)
class Frame:
    """A frame of the program that SQL reads by the name of its variable; `fields` are its columns and their types."""

    name: str
    lineage: FrameLineage
    fields: tuple[tuple[str, str], ...]


Frames = Mapping[str, Frame]


@dataclass(frozen=True)
class Bindings:
    """What the frames and the parameters in a statement stand for."""

    frames: Frames
    parameters: Mapping[str, Any] = field(default_factory=dict)


class DuckdbCapture:
    """Statements of DuckDB with the datasets that they read and write. Whence reads the columns out of the SQL."""

    name = "duckdb"
    kind = ATTACH
    versions = Versions("1.2.2", "2.0.0")

    def check(self) -> Findings:
        """Whether DuckDB is there, and of a release that is known."""
        return check_package("duckdb", self.versions)

    def translate(self, record: Statement, naming: Naming) -> Iterable[Event]:
        """The event of one statement."""
        return (statement_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook DuckDB, which the job has imported."""
        duckdb = sys.modules["duckdb"]
        return hook_once(duckdb, lambda: _Hooks(self, session, duckdb).install())


class _Hooks:
    """The hooks of one process."""

    def __init__(self, capture: DuckdbCapture, session: Session, duckdb: Any) -> None:
        self._capture, self._session, self._duckdb = capture, session, duckdb
        self._guard = session.guard(capture.name)
        self._patches = Patches(self._guard)
        self._memory = memory_of(session)
        self._calls = self._memory.calls
        self._queries: weakref.WeakKeyDictionary[Any, tuple[str, Bindings]] = weakref.WeakKeyDictionary()
        """The query whose result a connection has."""
        self._registered: weakref.WeakKeyDictionary[Any, dict[str, Frame]] = weakref.WeakKeyDictionary()
        """Frames by the names that a connection registered them under."""
        self._relations = Relations(duckdb, self._patches, self._guard)
        self._sources: dict[str, Frame] = {}
        """Frames by the names that DuckDB gives them inside relations."""
        self._reported: list[tuple[Frame, Dataset]] = []
        self._jobs: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        """The job that the tables in a connection's memory are named after: several runs may use them."""
        self._results: dict[str, int] = {}
        self._runs: dict[tuple[str, ...], str] = {}

    def install(self) -> Undo:
        """Put the hooks in place."""
        connection, relation = self._duckdb.DuckDBPyConnection, self._duckdb.DuckDBPyRelation
        for owner in (self._duckdb, connection):
            for name in _RUNS:
                if hasattr(owner, name):
                    self._patches.replace(owner, name, self._hook_run)
        self._patches.observe_outermost(connection, "register", self._observe_register, self._calls)
        self._patches.observe_outermost(self._duckdb, "register", self._observe_register, self._calls)
        self._relations.install()
        for name in (*_FILES, *_TABLES, *_FRAMES):
            for owner in (relation, connection):
                if hasattr(owner, name):
                    self._patches.replace(owner, name, functools.partial(self._hook_end, name))
        return self._patches.undo

    def _hook_run(self, original: Any) -> Any:
        """Run a statement in a frame that has the caller's variables: DuckDB looks for tables among them.

        What the observer asks of the database is no statement of the job.
        """

        @functools.wraps(original)
        def hooked(*args: Any, **named: Any) -> Any:
            if getattr(self._calls, "call", False):
                return original(*args, **named)
            caller = sys._getframe(1)
            self._calls.call = True
            try:
                result = call_for(caller, original, args, named)
                variables = {**caller.f_globals, **caller.f_locals}
                self._guard.run("execute", self._observe_run, args, named, variables, result)
            finally:
                self._calls.call = False
            return result

        return hooked

    def _hook_end(self, name: str, original: Any) -> Any:
        @functools.wraps(original)
        def hooked(subject: Any, *args: Any, **named: Any) -> Any:
            if getattr(self._calls, "call", False):
                return original(subject, *args, **named)
            self._calls.call = True
            try:
                result = original(subject, *args, **named)
                self._guard.run(name, self._observe_end, name, subject, args, named, result)
            finally:
                self._calls.call = False
            return result

        return hooked

    def _observe_run(
        self, args: tuple[Any, ...], named: dict[str, Any], variables: Mapping[str, Any], result: Any
    ) -> None:
        connection = self._relations.connection_in(args, named)
        given = args[1:] if args and args[0] is connection else args
        text = given[0] if given else named.get("query")
        if not isinstance(text, str):
            return
        parts = _split(connection, text)
        frames = {**self._frames_in(text, variables), **self._registered.get(connection, {})}
        bindings = Bindings(frames, _read_parameters(given[1:], named))
        for part in parts:
            head = read_head(part)
            if head is not None and head.is_write:
                self._emit(connection, head, part, bindings)
            elif head is not None:
                self._keep_query(connection, part, bindings, result)

    def _observe_register(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        connection = self._relations.connection_in(args, named)
        given = args[1:] if args and args[0] is connection else args
        name, value, *_ = (*given, *(named[one] for one in ("view_name", "python_object") if one in named))
        frame = self._read_frame(name, value)
        registered = self._registered.setdefault(connection, {})
        registered.pop(name, None)
        if frame is not None:
            registered[name] = frame

    def _keep_query(self, connection: Any, text: str, bindings: Bindings, result: Any) -> None:
        """The result of a query may be written later, or become a frame."""
        is_relation = isinstance(result, self._duckdb.DuckDBPyRelation)
        frames = bindings.frames
        if is_relation:
            self._relations.keep(result, connection)
        if is_relation and frames:
            named = find_sources(result)
            self._sources.update({source: frames[name] for name, source in named.items() if name in frames})
        if not is_relation:
            self._queries[connection] = (text, bindings)

    def _frames_in(self, text: str, variables: Mapping[str, Any]) -> Frames:
        """The frames of the program that a text may name."""
        names = frozenset(_WORD.findall(text)) & variables.keys()
        read = {name: self._read_frame(name, variables[name]) for name in names}
        return {name: frame for name, frame in read.items() if frame is not None}

    def _read_frame(self, name: str, value: Any) -> Frame | None:
        """A value as a frame; None if it is none, or of unknown lineage."""
        planned = self._memory.find_planned(value)
        if planned is not None:
            return Frame(name, planned, tuple((str(one), str(kind)) for one, kind in value.collect_schema().items()))
        if hasattr(value, "collect") or not (hasattr(value, "columns") and hasattr(value, "dtypes")):
            return None  # the columns of a lazy frame cost work, and a warning
        lineage = self._memory.find(value) or self._find_by_buffers(value)
        if lineage is None:
            return None
        types = zip(value.columns, value.dtypes)
        return Frame(name, lineage, tuple((str(one), str(kind)) for one, kind in types))

    def _find_by_buffers(self, value: Any) -> FrameLineage | None:
        columns = getattr(value, "get_columns", None)
        return self._memory.find_by_buffers(columns) if columns is not None else None

    def _observe_end(self, name: str, subject: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        is_relation = isinstance(subject, self._duckdb.DuckDBPyRelation)
        connection = self._relations.connection_of(subject) if is_relation else subject
        text, bindings = self._queries.get(connection, ("", Bindings({})))
        if is_relation:
            text, bindings = text_of(subject), Bindings(self._registered.get(connection, {}))
        if name in _FRAMES:
            if text and hasattr(result, "columns"):
                self._remember_result(connection, text, bindings, result)
        elif is_relation:
            target = args[0] if args else named.get("file_name", named.get("table_name"))
            head = Head(path=str(target)) if name in _FILES else Head(split_name(str(target)))
            verb = "INSERT INTO" if name == "insert_into" else "CREATE TABLE"
            start = "" if head.path else f"{verb} {target} {'' if name == 'insert_into' else 'AS '}"
            span = (len(verb) + 1, len(verb) + 1 + len(str(target)))
            self._emit(connection, replace(head, query=text, at=len(start), span=span), start + text, bindings)

    def _remember_result(self, connection: Any, text: str, bindings: Bindings, result: Any) -> None:
        """A query's result is a frame. It becomes a dataset when something that is made of it is written."""
        made: list[Source] = []
        statement = self._describe(connection, Head(query=text), text, bindings)
        fields = tuple(Field(str(one), str(kind)) for one, kind in zip(result.columns, result.dtypes))

        def resolve(field: str) -> Column:
            if not made:
                output = replace(statement.output, name=self._number(statement.output.name), schema_fields=fields)
                made.append(Source(*output.key))
                self._send(replace(statement, output=output, short=output.name.rpartition(".")[2]))
            return read_column(made[0], field)

        lineage = read_frame(PendingDataset(f"result {id(made)}", resolve), list(map(str, result.columns)))
        self._memory.remember(result, lineage, getattr(result, "get_columns", None))

    def _emit(self, connection: Any, head: Head, text: str, bindings: Bindings) -> None:
        self._send(self._describe(connection, head, text, bindings))

    def _describe(self, connection: Any, head: Head, text: str, bindings: Bindings) -> Statement:
        """The record of a statement, whose text has names that hold everywhere."""
        naming, job = self._session.naming(), self._job(connection)
        catalog = Catalog(connection, naming, job)
        try:
            named = self._name_query(catalog, head.query, bindings) if head.query else None
            inputs = named.inputs if named else (catalog.file(head.source_path),)
            start = _write_start(catalog, head, text)
            result = Dataset(naming.namespace, f"{job}.result")
            output = catalog.name_output(head, named) if head.is_write else result
        finally:
            catalog.close()
        for unknown in named.unknown if named else ():
            self._guard.note(f"the name {unknown}", "it is no table, file or frame of known lineage")
        text = start + named.text + text[head.at + len(head.query) :] if named else text
        if head.path:
            text = f"COPY ({named.text if named else head.query}) TO {quote(naming.file(head.path).name)}"
        if head.source_path:
            text = f"INSERT INTO {quote_name(head.table)} FROM {quote(naming.file(head.source_path).name)}"
        at = datetime.now(timezone.utc)
        run = self._run_of(output, adds=bool(head.source_path) or _INSERT.match(text) is not None)
        return Statement(text, inputs, output, short_name(output), script_name(), run, at)

    def _name_query(self, catalog: Catalog, query: str, bindings: Bindings) -> Named:
        return catalog.name_query(query, lambda name: self._name_frame(name, bindings.frames), bindings.parameters)

    def _run_of(self, output: Dataset, *, adds: bool) -> str:
        """The id of a statement's run. Those that add to a table belong to the run that made it in this process."""
        parent = self._session.parent()
        key = (*output.key, parent.run_id if parent else "")
        if not adds or key not in self._runs:
            self._runs[key] = new_run_id()
        return self._runs[key]

    def _name_frame(self, name: str, frames: Frames) -> Dataset | None:
        """The dataset of a frame, whose own lineage is reported when it is first read."""
        frame = frames.get(name) or self._sources.get(name)
        if frame is None:
            return None
        known = next((dataset for one, dataset in self._reported if one == frame), None)
        if known is not None:
            return known
        naming = self._session.naming()
        fields = tuple(Field(*one) for one in frame.fields)
        job = self._session.program() or script_name()
        dataset = Dataset(naming.namespace, f"{job}.{FRAMES}.{frame.name}", fields)
        self._reported.append((frame, dataset))
        write = describe_write("duckdb", dataset, frame.fields, frame.lineage)
        self._session.emit(write_event(write, naming), capture=self._capture.name)
        return dataset

    def _send(self, statement: Statement) -> None:
        for event in self._capture.translate(statement, self._session.naming()):
            self._session.emit(event, capture=self._capture.name)

    def _job(self, connection: Any) -> str:
        return self._jobs.setdefault(connection, self._session.program() or script_name())

    def _number(self, name: str) -> str:
        self._results[name] = self._results.get(name, 0) + 1
        return name if self._results[name] == 1 else f"{name}-{self._results[name]}"


def _split(connection: Any, text: str) -> list[str]:
    """The statements of a text. Another cursor splits it: the connection may have an unfinished result."""
    if ";" not in text:
        return [text]
    with connection.cursor() as cursor:
        return [str(one.query).rstrip("; \n") for one in cursor.extract_statements(text)]


def _write_start(catalog: Catalog, head: Head, text: str) -> str:
    """The text before the query, with the table's name as all know it. A temporary table is a dataset as any other."""
    start, end = head.span
    before = _TEMPORARY.sub("", text[:start])
    return before + catalog.write_name(head.table) + text[end : head.at] if head.table else text[: head.at]


def _read_parameters(given: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a statement's parameters by their names; those without one are numbered from 1."""
    found = given[0] if given else named.get("parameters", named.get("params"))
    if isinstance(found, Mapping):
        return {str(name): value for name, value in found.items()}
    return {str(number): value for number, value in enumerate(found or (), 1)}


capture = DuckdbCapture()
