"""The hooks of one module of PyArrow: where files are read and written, and where tables become frames."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Iterable
from typing import Any, Callable

from whence_client.captures.naming import Naming
from whence_client.captures.patches import Observer, Patches
from whence_client.captures.session import Session
from whence_client.events.facets import Event
from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, read_frame
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import FrameWrite, describe_write
from whence_client.lineage.columns import FILTER, NOT_CAPTURED, Dataset, merge, read_column
from whence_client.lineage.rows import NO_ROWS, Rows, rows_by
from whence_client.naming.files import common_folder, name_file
from whence_client.pyarrow.tables import Tables, list_kinds

_SCHEMES = {"s3": "s3://", "gcs": "gs://", "hdfs": "hdfs://"}
"""By the type of a file system, how the URI of a path in it begins."""

Translate = Callable[[FrameWrite, Naming], Iterable[Event]]


class Hooks:
    """The hooks of one module."""

    def __init__(self, name: str, module: Any, translate: Translate, session: Session) -> None:
        self._name, self._module, self._translate, self._session = name, module, translate, session
        self._guard = session.guard(name)
        self._memory = memory_of(session)
        self._tables = tables_of(session)
        self.patches = Patches(self._guard)

    def hook_readers(self, *names: str) -> None:
        """Observe functions that read a file, which is their first argument."""
        for name in names:
            self._observe(self._module, name, self._on_read)

    def hook_writers(self, *names: str) -> None:
        """Observe functions that write a table, their first argument, to a file, the second."""
        for name in names:
            self._observe(self._module, name, self._on_write)

    def hook_parquet_files(self) -> None:
        """Observe the classes that read and write Parquet in parts."""
        module = self._module
        for owner in (module.ParquetFile, module.ParquetDataset, module.ParquetWriter):
            self._observe(owner, "__init__", self._on_open_file)
        for name in ("read", "read_row_group", "read_row_groups"):
            self._observe(module.ParquetFile, name, self._on_read_part)
        self._observe(module.ParquetDataset, "read", self._on_read_part)
        for name in ("write_table", "write_batch"):
            self._observe(module.ParquetWriter, name, self._on_write_part)
        self._observe(module.ParquetWriter, "close", self._on_close)

    def hook_datasets(self) -> None:
        """Observe where datasets are opened and written."""
        self._observe(self._module, "dataset", self._on_open_dataset)
        self._observe(self._module, "write_dataset", self._on_write)

    def hook_conversions(self) -> None:
        """Observe how tables become frames of pandas, and frames tables."""
        self.patches.replace(self._module, "table_to_dataframe", self._wrap_conversion)
        self._observe(self._module, "dataframe_to_arrays", self._on_arrays)

    def _observe(self, owner: Any, name: str, observer: Observer) -> None:
        """Observe the outermost call: what pandas or PyArrow call within one says less."""
        if hasattr(owner, name):
            self.patches.observe_outermost(owner, name, observer, self._memory.calls)

    def _on_read(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        source = args[0] if args else next((named[one] for one in ("source", "input_file") if one in named), None)
        location = _locate(source, named.get("filesystem"))
        if not location:
            return
        named_columns: Iterable[Any] = result.column_names if hasattr(result, "column_names") else result.columns
        names = [str(name) for name in named_columns]
        dataset = _dataset(location)
        lineage = read_frame(dataset, names).with_rows(_rows_of(dataset, named.get("filters")))
        self._remember_read(result, dataset, lineage)

    def _on_open_file(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        source = args[1] if len(args) > 1 else next((named[one] for one in _SOURCES if one in named), None)
        location = _locate(source, named.get("filesystem"))
        if location:
            args[0]._whence_location = location

    def _on_read_part(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        location = getattr(args[0], "_whence_location", "")
        if location:
            dataset = _dataset(location)
            self._remember_read(result, dataset, read_frame(dataset, result.column_names))

    def _on_write_part(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        table = args[1] if len(args) > 1 else next(iter(named.values()))
        lineage = self._tables.find_or_announce(table, list_kinds(table.schema))
        parts = getattr(args[0], "_whence_parts", [])
        args[0]._whence_parts = parts if lineage in parts else [*parts, lineage]

    def _on_close(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A file is whole: each of its columns comes from that column of all parts."""
        writer = args[0]
        location, parts = getattr(writer, "_whence_location", ""), getattr(writer, "_whence_parts", [])
        writer._whence_parts = []
        if location and parts:
            names = [str(name) for name in writer.schema.names]
            columns = {name: merge(one.columns[name] for one in parts if name in one.columns) for name in names}
            lineage = FrameLineage(columns, join_rows(parts), join_inputs(parts))
            self._emit(location, list_kinds(writer.schema), lineage)

    def _on_write(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        data = args[0] if args else next((named[one] for one in _DATA if one in named), None)
        target = args[1] if len(args) > 1 else next((named[one] for one in _TARGETS if one in named), None)
        location = _locate(target, named.get("filesystem"))
        kinds = _kinds_of(data, named.get("schema"))
        if location:
            self._emit(location, kinds, self._tables.find_or_announce(data, kinds), getattr(data, "num_rows", -1))
        elif isinstance(target, (str, os.PathLike)):
            self._guard.note(f"a write to {target}", "its file system is not known here")

    def _on_open_dataset(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        source = args[0] if args else named.get("source")
        location = _locate(source, args[3] if len(args) > 3 else named.get("filesystem"))
        if location:
            dataset = _dataset(location)
            self._tables.open(result, dataset, read_frame(dataset, map(str, result.schema.names)))

    def _wrap_conversion(self, original: Any) -> Any:
        """A table becomes a frame. Its lineage is found before that: a table that is converted with `self_destruct` is
        gone afterwards, and to touch it ends the process.
        """

        @functools.wraps(original)
        def converted(*args: Any, **named: Any) -> Any:
            if getattr(self._memory.calls, "call", False):
                return original(*args, **named)
            table = args[1] if len(args) > 1 else named.get("table")
            lineage = self._guard.run("table_to_dataframe", self._tables.find, table)
            del table  # a reference more would keep its columns from being freed one by one
            result = original(*args, **named)
            if lineage is not None:
                self._guard.run("table_to_dataframe", self._remember_frame, result, lineage)
            return result

        return converted

    def _remember_frame(self, frame: Any, lineage: FrameLineage) -> None:
        """Keep the lineage of a frame that was a table, whose index may have been columns."""
        columns = {name: lineage.columns[str(name)] for name in frame.columns if str(name) in lineage.columns}
        index = {name: lineage.columns[name] for name in frame.index.names if name in lineage.columns}
        self._memory.remember(frame, FrameLineage(columns, lineage.rows, lineage.inputs, index))

    def _on_arrays(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame became arrays, of which a table is made."""
        arrays, schema = result[0], result[1]
        self._tables.remember_arrays(args[0] if args else named["df"], arrays, schema.names)

    def _remember_read(self, result: Any, dataset: Dataset, lineage: FrameLineage) -> None:
        if hasattr(result, "schema"):
            self._tables.remember(result, lineage)
            self._tables.note_opened(dataset, result.schema)
        else:
            self._memory.remember(result, lineage)

    def _emit(self, location: str, kinds: Iterable[tuple[str, str]], lineage: FrameLineage, rows: int = -1) -> None:
        write = describe_write("pyarrow", name_file(location), kinds, lineage, rows)
        for event in self._translate(write, self._session.naming()):
            self._session.emit(event, capture=self._name)


_SOURCES = ("source", "path_or_paths", "where")
_DATA = ("table", "data", "df")
_TARGETS = ("where", "base_dir", "root_path", "dest", "output_file")

_of_sessions: weakref.WeakKeyDictionary[Session, Tables] = weakref.WeakKeyDictionary()


def tables_of(session: Session) -> Tables:
    """The tables that all modules of a session share."""
    return _of_sessions.setdefault(session, Tables(memory_of(session)))


def _kinds_of(data: Any, schema: Any) -> list[tuple[str, str]]:
    """The columns of what is written; none if only reading it would tell them."""
    known = schema or getattr(data, "schema", None) or getattr(data, "projected_schema", None)
    if known is not None:
        return list_kinds(known)
    if isinstance(data, (list, tuple)) and data:
        return _kinds_of(data[0], None)
    types: Any = getattr(data, "dtypes", {})
    return [(str(name), str(kind)) for name, kind in types.items()] if hasattr(types, "items") else []


def _rows_of(dataset: Dataset, filters: Any) -> Rows:
    """The columns that choose rows, in the form of lists; an expression does not tell its columns."""
    if filters is None:
        return NO_ROWS
    if not isinstance(filters, (list, tuple)):
        return Rows(reasons=frozenset((NOT_CAPTURED,)))
    triples = [two for one in filters for two in ([one] if isinstance(one[0], str) else one)]
    return rows_by((read_column(dataset, str(name)) for name, *_ in triples), FILTER)


def _locate(source: Any, filesystem: Any) -> str:
    """The path or URI of a file, or of the folder of several; empty for what has none, as an open file."""
    if isinstance(source, (list, tuple)) and source:
        each = [_locate(one, filesystem) for one in source]
        return common_folder(each) if all(each) else ""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    if not isinstance(path, str) or not path:
        return ""
    kind = "local" if filesystem is None else str(getattr(filesystem, "type_name", "other"))
    return path if kind == "local" else f"{_SCHEMES[kind]}{path}" if kind in _SCHEMES else ""


def _dataset(location: str) -> Dataset:
    found = name_file(location)
    return Dataset(found.namespace, found.name)
