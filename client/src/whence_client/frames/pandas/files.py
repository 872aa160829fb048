"""Reads and writes of frames: files and tables of databases, by OpenLineage's names."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from whence_client.events.datasets import Dataset as EventDataset
from whence_client.frames.frames import FrameLineage, read_frame, unknown_frame
from whence_client.frames.memory import FrameMemory
from whence_client.frames.pandas.calls import is_frame, labels_in
from whence_client.frames.pandas.outputs import written_columns
from whence_client.frames.writes import FrameWrite, describe_write
from whence_client.lineage.columns import LEFT_THE_ENGINE, NOT_CAPTURED, Column, Dataset, read_column, unknown
from whence_client.naming.files import name_file
from whence_client.naming.tables import name_table_of_url

READERS = (
    *("read_csv", "read_table", "read_parquet", "read_json", "read_excel", "read_feather", "read_orc", "read_pickle"),
    *("read_fwf", "read_xml", "read_stata", "read_sas"),
)
QUERIES = ("read_sql", "read_sql_query", "read_sql_table", "read_gbq", "read_html", "read_clipboard", "read_hdf")
WRITERS = ("to_csv", "to_parquet", "to_json", "to_excel", "to_feather", "to_orc", "to_pickle", "to_xml", "to_stata")


class Files:
    """What follows on a read or a write. `emit_write` takes the record of each write."""

    def __init__(self, memory: FrameMemory, emit_write: Callable[[FrameWrite], None]) -> None:
        self._memory, self._emit_write = memory, emit_write

    def on_read(self, method: str, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A file was read. Chunks and several sheets have no lineage."""
        if not is_frame(result):
            return
        path = _path(
            args[0]
            if args
            else next((named[one] for one in ("filepath_or_buffer", "path", "io", "path_or_buf") if one in named), None)
        )
        labels = list(result.columns)
        if not path:
            self._memory.remember(result, unknown_frame(labels, LEFT_THE_ENGINE))
            return
        found = name_file(path)
        dataset, levels = Dataset(found.namespace, found.name), [one for one in result.index.names if one is not None]
        columns, index = read_frame(dataset, labels).columns, read_frame(dataset, levels).columns
        if _has_other_names(method, named):
            names = self._names_in(method, path, named)
            columns, index = (_read_as(dataset, each, names) for each in (labels, levels))
        self._memory.remember(result, FrameLineage(columns, inputs=frozenset((dataset,)), index=index))

    def _names_in(self, method: str, path: str, named: Mapping[str, Any]) -> dict[Any, Any]:
        """The names in a file by those that the job gave in their place; none if the file is not at hand."""
        if method not in ("read_csv", "read_table") or not os.path.isfile(path):
            return {}
        options = {name: named[name] for name in _OF_HEADER if name in named}
        self._memory.calls.call = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the job has them already
                header = getattr(sys.modules["pandas"], method)(path, nrows=0, **options)
        finally:
            self._memory.calls.call = False
        names = list(named["names"])
        return dict(zip(names, header.columns)) if len(names) == len(header.columns) else {}

    def on_query(self, method: str, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Rows of a database. A table by its name is known; the text of a query is not read here."""
        if not is_frame(result):
            return
        query, connection = (
            args[0] if args else named.get("sql", named.get("table_name")),
            args[1] if len(args) > 1 else named.get("con"),
        )
        url = _url(connection)
        if isinstance(query, str) and url and query.replace("_", "").replace(".", "").isalnum():
            table = name_table_of_url(url, query, schema=str(named.get("schema") or ""))
            self._memory.remember(result, read_frame(Dataset(table.namespace, table.name), list(result.columns)))
        else:
            self._memory.remember(result, unknown_frame(list(result.columns), NOT_CAPTURED))

    def on_write(self, method: str, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame was written to a file."""
        path = _path(
            args[1]
            if len(args) > 1
            else next((named[one] for one in ("path_or_buf", "path", "excel_writer") if one in named), None)
        )
        if path:
            self._emit(name_file(path), method, args[0], named)

    def on_table(self, method: str, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A frame was written to a table."""
        name, url = (
            args[1] if len(args) > 1 else named.get("name"),
            _url(args[2] if len(args) > 2 else named.get("con")),
        )
        if not url:
            raise ValueError(f"the database of the table {name} is not known: its connection has no address")
        if isinstance(name, str):
            table = name_table_of_url(url, name, schema=str(named.get("schema") or ""))
            self._emit(table, method, args[0], named)

    def _emit(self, target: EventDataset, method: str, frame: Any, named: Mapping[str, Any]) -> None:
        lineage = self._memory.find(frame) or unknown_frame(labels_in(frame), LEFT_THE_ENGINE)
        outputs = list(written_columns(method, frame, lineage, named))
        whole = FrameLineage({name: column for name, _, column in outputs}, lineage.rows, lineage.inputs)
        types = ((name, type_) for name, type_, _ in outputs)
        self._emit_write(describe_write("pandas", target, types, whole, len(frame)))


_OF_HEADER = (
    *("sep", "delimiter", "header", "skiprows", "encoding", "compression", "quotechar", "comment", "engine"),
    *("skipinitialspace", "skip_blank_lines", "escapechar", "quoting", "doublequote"),
)
"""Options of a reader of text on which the names in its first lines depend."""


def _has_other_names(method: str, named: Mapping[str, Any]) -> bool:
    """Whether the job gave names in the place of those in the file."""
    header = named.get("header", 0 if method == "read_excel" else None)
    return named.get("names") is not None and header not in (None, "infer")


def _read_as(dataset: Dataset, labels: list[Any], names: Mapping[Any, Any]) -> dict[Any, Column]:
    return {one: read_column(dataset, names[one]) if one in names else unknown(NOT_CAPTURED) for one in labels}


def _path(source: Any) -> str:
    """The path or URI of a file; empty for what is none."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    return path if isinstance(path, str) else ""


def _url(connection: Any) -> str:
    """The URL of a database without its password; empty if the connection has none."""
    if isinstance(connection, str):
        return connection
    if any(one.__module__ == "sqlite3" for one in type(connection).__mro__):
        return _url_of_sqlite(connection)
    engine = getattr(connection, "engine", connection)
    render = getattr(getattr(engine, "url", None), "render_as_string", None)
    return str(render(hide_password=True)) if render else ""


def _url_of_sqlite(connection: Any) -> str:
    """The URL of a connection of the standard library, as SQLAlchemy writes it."""
    path = next((row[2] for row in connection.execute("PRAGMA database_list") if row[1] == "main"), "")
    return f"sqlite:///{quote(path)}" if path else "sqlite://"
