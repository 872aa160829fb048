"""What the names of a statement are: tables of a database, files, or frames of the program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Callable

from whence_client.captures.naming import Naming
from whence_client.duckdb.statements import TEMPORARY, Head, Source, quote, quote_name, read_sources
from whence_client.events.datasets import Dataset, Field

FRAMES = "frames"
"""The schema of frames: `FROM loc` reads the variable `loc` of the program."""
_PART = rb"(?:\"(?:[^\"]|\"\")*\"|[\w$]+)"
_NAME = re.compile(rb"'(?:[^']|'')*'|\?\d*(?!\w)|%b(?:\.%b)*" % (_PART, _PART))
_OF_CONNECTION = """
SELECT database_name, schema_name, table_name, column_name, data_type FROM duckdb_columns()
WHERE NOT internal AND (database_name, schema_name, table_name) NOT IN (
    SELECT (database_name, schema_name, view_name) FROM duckdb_views()
    WHERE sql = '' OR regexp_matches(sql, '(pandas|arrow|numpy|polars)_scan\\(')
)
ORDER BY column_index
"""
"""Columns of tables and views that only their own connection sees, without frames that were registered."""

NameFrame = Callable[[str], "Dataset | None"]


@dataclass(frozen=True)
class Named:
    """The text of a query with names that hold everywhere, and its datasets. `unknown`: what has no dataset."""

    text: str
    inputs: tuple[Dataset, ...]
    unknown: tuple[str, ...] = ()


class Catalog:
    """The databases of a connection, asked through another cursor: the job's own results stay as they are."""

    def __init__(self, connection: Any, naming: Naming, job: str) -> None:
        self._connection, self._cursor = connection, connection.cursor()
        self._naming, self._job = naming, job
        self._paths = {
            str(name): path for name, path in self._ask("SELECT database_name, path FROM duckdb_databases()")
        }
        ((self._database, self._schema),) = self._ask("SELECT current_database(), current_schema()")
        self._tables = {
            tuple(map(str, row))
            for row in self._ask(
                "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
                "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal"
            )
        }

        self._own: dict[tuple[str, ...], list[Field]] | None = None
        """Columns of all tables and views by their names, as the connection itself sees them."""

    def close(self) -> None:
        """Give the cursor back."""
        self._cursor.close()

    def name_query(self, text: str, frames: NameFrame, parameters: Mapping[str, Any]) -> Named:
        """The datasets of a query, whose relative paths become absolute; `parameters` are those of the statement."""
        answer = self._parse(text)
        inputs: dict[tuple[str, str], Dataset] = {}
        changes: list[tuple[int, str]] = []
        unknown: list[str] = [f"query ({answer['error_message']})"] if answer.get("error") else []
        for source in read_sources(answer.get("statements", ()), parameters):
            found = self._resolve(source, frames)
            if not found:
                unknown.append(f"{source.function}()" if source.function else ".".join(source.table))
            for (dataset, written), (at, _) in zip(found, source.spans):
                inputs.setdefault(dataset.key, dataset)
                if written:
                    changes.append((at, written))
        return Named(_rewrite(text, changes), tuple(inputs.values()), tuple(unknown))

    def name_output(self, head: Head) -> Dataset:
        """The dataset that a statement writes, with its columns as they are now."""
        if not head.path:
            return self.table(head.table)
        columns = self._columns(f"({head.query})") or self._columns(
            quote(head.path)
        )  # a query of frames is not known here
        return replace(self._naming.file(head.path), schema_fields=columns)

    def write_name(self, parts: Sequence[str]) -> str:
        """The name of a table in a text: with the schema if it has a database, without both if it is temporary."""
        if tuple(parts[:2]) == TEMPORARY:
            return quote_name(parts[2:])
        return quote_name(self._qualify(tuple(parts)) if parts[0] in self._paths else parts)

    def table(self, parts: Sequence[str]) -> Dataset:
        """The dataset of a table. Those of a database in memory are the job's own."""
        database, schema, name = self._qualify(tuple(parts))
        path = self._paths.get(database)
        if path:
            named = self._naming.table("duckdb", (database, schema, name), path=path)
        else:
            named = Dataset(self._naming.namespace, f"{self._job}.{database}.{schema}.{name}")
        parts = (database, schema, name)
        return replace(named, schema_fields=self._columns(quote_name(parts)) or self._columns_of_connection(parts))

    def file(self, path: str) -> Dataset:
        """The dataset of a file, with its columns if it can be read."""
        return replace(self._naming.file(path), schema_fields=self._columns(quote(path)))

    def _resolve(self, source: Source, frames: NameFrame) -> list[tuple[Dataset, str]]:
        """The datasets of a source, each with the text to put in the place of its name, empty to keep it."""
        if source.paths:
            return [(self.file(path), quote(_absolute(self._naming, path))) for path in source.paths]
        if source.function:
            return []
        if self._qualify(source.table) in self._tables:
            is_short = len(source.table) == 2 and source.table[0] in self._paths
            return [(self.table(source.table), self.write_name(source.table) if is_short else "")]
        if len(source.table) > 1:
            return self._resolve_of_connection(source)
        (name,) = source.table
        frame = frames(name)
        if frame is not None:
            return [(frame, f'{FRAMES}."{frame.name.rpartition(".")[2]}"' if name.startswith("__") else "")]
        if "." in name or "/" in name:
            return [(self.file(name), quote(_absolute(self._naming, name)))]
        return self._resolve_of_connection(source)

    def _resolve_of_connection(self, source: Source) -> list[tuple[Dataset, str]]:
        """A table or view that other cursors do not see: it is temporary, or its transaction is open."""
        names = ((*TEMPORARY, *source.table), self._qualify(source.table))
        return next(([(self.table(name), "")] for name in names if self._columns_of_connection(name)), [])

    def _qualify(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        if len(parts) == 2 and parts[0] in self._paths:
            return (parts[0], "main", parts[1])
        return (*(self._database, self._schema)[: 3 - len(parts)], *parts)

    def _columns(self, written: str) -> tuple[Field, ...]:
        try:
            return tuple(Field(str(row[0]), str(row[1])) for row in self._ask(f"DESCRIBE FROM {written}"))
        except Exception:  # of another connection's, or gone
            return ()

    def _columns_of_connection(self, parts: tuple[str, ...]) -> tuple[Field, ...]:
        if self._own is None:
            self._own = {}
            for *name, column, kind in self._connection.sql(_OF_CONNECTION).fetchall():
                self._own.setdefault(tuple(name), []).append(Field(column, kind))
        return tuple(self._own.get(parts, ()))

    def _parse(self, text: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._ask("SELECT json_serialize_sql(?)", text)[0][0])
        return answer

    def _ask(self, text: str, *values: str) -> list[Any]:
        return list(self._cursor.execute(text, list(values)).fetchall())


def _absolute(naming: Naming, path: str) -> str:
    """The path as everybody else may read it. URIs and absolute paths stay as they are."""
    named = naming.file(path)
    return named.name if named.namespace == "file" and "://" not in path else path


def _rewrite(text: str, changes: Iterable[tuple[int, str]]) -> str:
    """The text with other names at some positions, which count bytes."""
    encoded = text.encode()
    for at, written in sorted(changes, reverse=True):
        found = _NAME.match(encoded, at)
        if found:
            encoded = encoded[:at] + written.encode() + encoded[found.end() :]
    return encoded.decode()
