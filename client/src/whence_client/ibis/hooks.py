"""The capture of ibis: hooks where a backend reads files, runs expressions, and writes files and tables."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Callable

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Observer, Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset as EventDataset
from whence_client.events.facets import Event
from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, read_frame, unknown_frame
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import FrameWrite, describe_write, script_name, write_event
from whence_client.ibis.expressions import Expressions, is_relation
from whence_client.ibis.tables import forget_table, name_table_of, read_table, remember_table
from whence_client.lineage.columns import LEFT_THE_ENGINE, Dataset
from whence_client.naming.files import common_folder, name_file
from whence_client.pyarrow.tables import list_columns

_READERS = ("read_parquet", "read_csv", "read_json", "read_delta", "read_geo", "read_xlsx")
_WRITERS = ("to_parquet", "to_parquet_dir", "to_csv", "to_json", "to_delta", "to_geo", "to_xlsx")
_RESULTS = ("execute", "to_pandas", "to_polars", "to_pyarrow")


class IbisCapture:
    """Column lineage of ibis expressions, where they are executed."""

    name = "ibis"
    kind = ATTACH
    versions = Versions("10.0.0", "12.0.0")
    engines = ("duckdb", "polars")

    def check(self) -> Findings:
        """Whether ibis is there, and of a release that is known."""
        return check_package("ibis-framework", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one write."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook ibis, which the job has imported."""
        base = sys.modules["ibis.backends"].BaseBackend
        return hook_once(sys.modules["ibis"], lambda: _Hooks(self, session).install(base))


class _Hooks:
    """The hooks of one process. Backends are modules of their own, which are hooked when one is made."""

    def __init__(self, capture: IbisCapture, session: Session) -> None:
        self._capture, self._session = capture, session
        self._guard = session.guard(capture.name)
        self._patches = Patches(self._guard)
        self._memory = memory_of(session)
        self._hooked: set[type] = set()
        self._runs: dict[tuple[str, str], str] = {}
        """The run that made a table: those that insert into it are the same."""

    def install(self, base: type) -> Undo:
        """Put the hooks in place: in the classes that there are, and in those that come."""
        for owner in _descend(base):
            self._hook_class(owner)
        self._patches.observe(base, "__init__", lambda _, args, named: self._hook_class(type(args[0])))
        return self._patches.undo

    def _hook_class(self, backend: type) -> None:
        for owner in backend.__mro__:
            if owner in self._hooked or not owner.__module__.startswith("ibis."):
                continue
            self._hooked.add(owner)
            for names, observer in (
                (_READERS, self._on_read),
                (_WRITERS, self._on_write),
                (_RESULTS, self._on_result),
                (("create_table",), self._on_create_table),
                (("create_view",), self._on_create_view),
                (("insert",), self._on_insert),
            ):
                for name in names:
                    if name in vars(owner):
                        self._patches.replace(owner, name, functools.partial(self._hook, name, observer))

    def _hook(self, name: str, observer: Observer, original: Any) -> Callable[..., Any]:
        """Observe the outermost call: the database's own capture, or pandas', would say less."""
        calls, guard = self._memory.calls, self._guard

        @functools.wraps(original)
        def hooked(*args: Any, **named: Any) -> Any:
            if getattr(calls, "call", False):
                return original(*args, **named)
            calls.call = True
            try:
                result = original(*args, **named)
                guard.run(name, observer, result, args, named)
            finally:
                calls.call = False
            return result

        return hooked

    def _on_read(self, table: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A file is a table of the backend now."""
        path = _path(args[1] if len(args) > 1 else named.get("path", named.get("paths")))
        node = table.op()
        if path and type(node).__name__ == "DatabaseTable":
            found = name_file(path)
            lineage = read_frame(Dataset(found.namespace, found.name), node.schema.names)
            remember_table(args[0], node.name, lineage)

    def _on_write(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """An expression was run into a file."""
        expression = args[1]
        path = _path(args[2] if len(args) > 2 else named.get("path", named.get("directory")))
        if path:
            self._emit(name_file(path), expression.as_table())

    def _on_result(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """An expression was run into memory. Of a single value nothing is known later."""
        if hasattr(result, "columns") or hasattr(result, "to_numpy"):
            lineage = self._read(args[1])
            take = getattr(result, "get_columns", None)
            is_arrow = take is None and hasattr(result, "schema")
            self._memory.remember(result, lineage, (lambda: list_columns(result)) if is_arrow else take)

    def _on_create_table(self, table: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A table was made. A temporary one, as all of polars are, is the job's own: what is made of it leads to its
        sources.
        """
        backend, name = args[0], args[1]
        given = args[2] if len(args) > 2 else named.get("obj")
        if given is None:
            return
        node = table.op()
        if named.get("temp") or backend.name == "polars":
            remember_table(backend, name, self._read_given(given, node.schema.names))
            return
        forget_table(backend, name)
        space = node.namespace
        self._write_table(backend, (space.catalog, space.database, name), given, node.schema.items())

    def _on_create_view(self, view: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A view was made."""
        space, node = view.op().namespace, view.op()
        given = args[2] if len(args) > 2 else named["obj"]
        if args[0].name == "polars":
            remember_table(args[0], args[1], self._read_given(given, node.schema.names))
            return
        self._write_table(args[0], (space.catalog, space.database, args[1]), given, node.schema.items())

    def _on_insert(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Rows were added to a table."""
        given = args[2] if len(args) > 2 else named["obj"]
        inside = named.get("database")
        within = inside if isinstance(inside, tuple) else tuple((inside or "").split("."))
        columns = given.schema().items() if hasattr(given, "op") else [(name, "") for name in given.columns]
        self._write_table(args[0], (*within, args[1]), given, columns, adds=not named.get("overwrite"))

    def _write_table(
        self,
        backend: Any,
        parts: tuple[str | None, ...],
        given: Any,
        columns: Iterable[tuple[Any, Any]],
        *,
        adds: bool = False,
    ) -> None:
        target = name_table_of(backend, parts, self._session.naming(), self._job())
        fields = list(columns)
        if target is None:
            self._guard.note(f"a table of {backend.name}", "its name is not known here")
            return
        write = describe_write("ibis", target, fields, self._read_given(given, [str(name) for name, _ in fields]))
        if adds and target.key in self._runs:
            write = replace(write, run_id=self._runs[target.key])
        self._runs[target.key] = write.run_id
        self._send(write)

    def _emit(self, target: EventDataset, table: Any) -> None:
        self._send(describe_write("ibis", target, table.schema().items(), self._read(table)))

    def _send(self, write: FrameWrite) -> None:
        for event in self._capture.translate(write, self._session.naming()):
            self._session.emit(event, capture=self._capture.name)

    def _read_given(self, given: Any, names: Iterable[str]) -> FrameLineage:
        """The lineage of an expression, or of a frame that ibis puts into a table."""
        if hasattr(given, "op"):
            return self._read(given)
        return self._memory.find(given) or unknown_frame(names, LEFT_THE_ENGINE)

    def _read(self, expression: Any) -> FrameLineage:
        naming, job = self._session.naming(), self._job()
        read = Expressions(lambda node: read_table(node, self._memory, naming, job))
        node = expression.op()
        if is_relation(node):
            return read.read_relation(node)
        parents = [read.read_relation(one) for one in node.relations]
        column = read.read_value(node)
        return FrameLineage({expression.get_name(): column}, join_rows(parents), join_inputs(parents))

    def _job(self) -> str:
        return self._session.program() or script_name()


def _descend(owner: type) -> Iterator[type]:
    yield owner
    children: list[type] = type.__subclasses__(owner)
    for one in children:
        yield from _descend(one)


def _path(source: Any) -> str:
    """The path or URI of a file, or of the folder of several; empty for what is none."""
    if isinstance(source, (list, tuple)) and source:
        each = list(map(_path, source))
        return common_folder(each) if all(each) else ""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    return path if isinstance(path, str) else ""


capture = IbisCapture()
