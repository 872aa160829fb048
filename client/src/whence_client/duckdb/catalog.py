"""What the names of a statement are: tables of a database, files, or frames of the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Callable

from whence_client.captures.naming import Naming
from whence_client.duckdb.sources import Source, SyntaxTree, find_columns, read_names, read_sources, read_tree
from whence_client.duckdb.statements import TEMPORARY, Head, quote, quote_name
from whence_client.duckdb.texts import Change, Macro, change_name, expand_call, read_call, rewrite
from whence_client.events.datasets import Dataset, Field
from whence_client.naming.patterns import files_of, limit_files

FRAMES = "frames"
"""The schema of frames: `FROM loc` reads the variable `loc` of the program."""
_OF_CONNECTION = """
SELECT database_name, schema_name, table_name, column_name, data_type FROM duckdb_columns()
WHERE NOT internal AND (database_name, schema_name, table_name) NOT IN (
    SELECT (database_name, schema_name, view_name) FROM duckdb_views()
    WHERE sql = '' OR regexp_matches(sql, '(pandas|arrow|numpy|polars)_scan\\(')
)
ORDER BY column_index
"""
"""Columns of tables and views that only their own connection sees, without frames that were registered."""
_TABLES = """
SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
"""
_MACROS = """
SELECT parameters, macro_definition FROM duckdb_functions()
WHERE function_type = 'table_macro' AND NOT internal AND lower(function_name) = {name}
"""
_MOST_MACROS = 16
"""How often the macros in a query are expanded: one may call others."""
_WIDEST = 100
"""As many columns of a query have their types in a text file that it writes, which has none itself: to ask DuckDB for
those of 300 sums takes it 15 to 35 ms."""
_READERS = {"csv": "read_csv", "tsv": "read_csv", "parquet": "read_parquet", "json": "read_json", "ndjson": "read_json"}
"""The function for files by the ending of their names."""

NameFrame = Callable[[str], "Dataset | None"]


@dataclass(frozen=True)
class Found:
    """What a name or path in a text stands for, and the text to put in its place, empty to keep it.

    `is_file`: it is one file, by its name alone, whose columns take long to find.
    """

    datasets: tuple[Dataset, ...]
    written: str = ""
    is_file: bool = False


@dataclass(frozen=True)
class Named:
    """The text of a query with names that hold everywhere, and its datasets. `unknown`: what has no dataset.

    `query` is the text without macros as it was, `files` are those that it reads by name alone, with their positions.
    `columns` are the names of its result's columns, if its text says all of them.
    """

    text: str
    inputs: tuple[Dataset, ...]
    unknown: tuple[str, ...] = ()
    query: str = ""
    files: tuple[tuple[int, Dataset], ...] = ()
    columns: tuple[str, ...] = ()


class Catalog:
    """The databases of a connection, asked through another cursor: the job's own results stay as they are."""

    def __init__(self, connection: Any, naming: Naming, job: str) -> None:
        self._connection, self._cursor = connection, connection.cursor()
        self._naming, self._job = naming, job
        rows = self._ask("SELECT database_name, path, current_database(), current_schema() FROM duckdb_databases()")
        self._paths = {str(name): path for name, path, *_ in rows}
        self._database, self._schema = rows[0][2:]
        self._known: frozenset[tuple[str, ...]] | None = None
        """The names of all tables and views, once they are needed: the first time they take DuckDB 10 ms."""
        self._own: dict[tuple[str, ...], list[Field]] | None = None
        """Columns of all tables and views by their names, as the connection itself sees them."""

    def close(self) -> None:
        """Give the cursor back."""
        self._cursor.close()

    def name_query(self, text: str, frames: NameFrame, parameters: Mapping[str, Any]) -> Named:
        """The datasets of a query, whose relative paths become absolute; `parameters` are those of the statement.

        Table macros become the queries that they stand for.
        """
        text, tree = self._expand_macros(text, parameters)
        inputs: dict[tuple[str, str], Dataset] = {}
        changes: list[Change | None] = []
        files: list[tuple[int, Dataset]] = []
        unknown: list[str] = [f"query ({tree.error})"] if tree.error else []
        for source in read_sources(tree, parameters):
            found = self._resolve(source, frames)
            if not found:
                unknown.append(f"{source.function}()" if source.function else ".".join(source.table))
            for one, (at, _) in zip(found, source.spans):
                inputs.update((dataset.key, dataset) for dataset in one.datasets if dataset.key not in inputs)
                changes.append(change_name(text, at, one.written) if one.written else None)
                files += [(at, dataset) for dataset in one.datasets if one.is_file]
        named = rewrite(text, filter(None, changes))
        known = {one.name for dataset in inputs.values() for one in dataset.schema_fields if isinstance(one, Field)}
        return Named(named, tuple(inputs.values()), tuple(unknown), text, tuple(files), read_names(tree, known))

    def _expand_macros(self, text: str, parameters: Mapping[str, Any]) -> tuple[str, SyntaxTree]:
        """The text without the calls of macros whose queries are known, and its tree."""
        tree = self._parse(text)
        for _ in range(_MOST_MACROS):
            changes = list(self._macro_changes(text, tree, parameters))
            if not changes:
                break
            text = rewrite(text, changes)
            tree = self._parse(text)
        return text, tree

    def _macro_changes(self, text: str, tree: SyntaxTree, parameters: Mapping[str, Any]) -> Iterator[Change]:
        for source in read_sources(tree, parameters):
            call = read_call(text, source.spans[0][0]) if source.function and not source.paths else None
            macro = self._find_macro(source.function, len(call.arguments)) if call else None
            query = expand_call(call, macro) if call and macro else None
            if call and query:
                yield (*call.span, f"({query})")

    def _find_macro(self, name: str, arguments: int) -> Macro | None:
        """The table macro of a name with as many parameters; None if there is none, or more than one."""
        statement = _MACROS.format(name=quote(name))
        rows = self._ask(statement) or self._connection.sql(statement).fetchall()  # one that is temporary
        found = [(tuple(names), str(query)) for names, query in rows if len(names) == arguments]
        if len(found) != 1:
            return None
        ((names, query),) = found
        return Macro(names, query, tuple(find_columns(self._parse(query))))

    def name_output(self, head: Head, named: Named | None) -> Dataset:
        """The dataset that a statement writes, with its columns as they are now."""
        if not head.path:
            return self.table(head.table)
        if head.path.endswith(".parquet"):  # the file tells its columns at once; those of a query it takes binding
            columns = self._columns(quote(head.path)) or self._columns_of_query(head, named)
        elif named and len(named.columns) > _WIDEST:
            columns = tuple(map(Field, named.columns))
        else:  # a query of frames is not known here
            columns = self._columns_of_query(head, named) or self._columns(quote(head.path))
        return replace(self._naming.file(head.path), schema_fields=columns)

    def _columns_of_query(self, head: Head, named: Named | None) -> tuple[Field, ...]:
        """The columns of a statement's query. With empty tables in the place of files it takes 10 ms, not 30: DuckDB
        does not look again what is in a wide CSV file. A query that names a column by its file needs the files.
        """
        files = named.files if named else ()
        shapes = [self._make_shape(number, file) for number, (_, file) in enumerate(files)]
        if named and shapes and all(shapes):
            changes = (change_name(named.query, at, shape) for (at, _), shape in zip(files, shapes))
            columns = self._columns(f"({rewrite(named.query, filter(None, changes))})")
            if columns:
                return columns
        return self._columns(f"({head.query})")

    def _make_shape(self, number: int, file: Dataset) -> str:
        """An empty table with the columns of a file, which nobody but this cursor sees; empty if there is none."""
        fields = [one for one in file.schema_fields if isinstance(one, Field)]
        columns = ", ".join(f"{quote_name((one.name,))} {one.type}" for one in fields)
        name = quote_name((*TEMPORARY, f"whence file {number}"))
        return name if columns and self._answers(f"CREATE TEMP TABLE {name} ({columns})") else ""

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

    def _resolve(self, source: Source, frames: NameFrame) -> list[Found]:
        """The datasets at each name or path of a source."""
        if source.paths:
            return [self._find_files(path, "{}" if source.is_list else "[{}]") for path in source.paths]
        if source.function:
            return []
        if self._has_table(source.table):
            is_short = len(source.table) == 2 and source.table[0] in self._paths
            return [Found((self.table(source.table),), self.write_name(source.table) if is_short else "")]
        if len(source.table) > 1:
            return self._resolve_of_connection(source)
        (name,) = source.table
        frame = frames(name)
        if frame is not None:
            return [Found((frame,), f'{FRAMES}."{frame.name.rpartition(".")[2]}"' if name.startswith("__") else "")]
        if _is_path(name):
            reader = _READERS.get(name.rpartition(".")[2].lower())
            found = self._find_files(name, f"{reader}([{{}}])" if reader else "")
            # Parquet has its columns in one place: to look there again costs less than to make a table.
            return [replace(found, is_file=len(found.datasets) == 1 and not name.endswith(".parquet"))]
        return self._resolve_of_connection(source)

    def _has_table(self, parts: tuple[str, ...]) -> bool:
        """Whether a table or view has this name. One that looks like a file's is asked for, without all others."""
        if len(parts) == 1 and _is_path(parts[0]):
            return self._answers(f"SELECT 1 FROM {quote_name(self._qualify(parts))} LIMIT 0")
        if self._known is None:
            self._known = frozenset(tuple(map(str, row)) for row in self._ask(_TABLES))
        return self._qualify(parts) in self._known

    def _answers(self, text: str) -> bool:
        try:
            self._ask(text)
        except Exception:  # there is no such table, or it cannot be read
            return False
        return True

    def _find_files(self, path: str, several: str) -> Found:
        """The files at a path or pattern. `several` is how the text has more than one, empty if it cannot."""
        named = _absolute(self._naming, path)
        paths = limit_files(files_of(named)) if several and self._naming.file(path).namespace == "file" else [named]
        written = quote(paths[0]) if len(paths) == 1 else several.format(", ".join(map(quote, paths)))
        return Found(tuple(map(self.file, paths)), written)

    def _resolve_of_connection(self, source: Source) -> list[Found]:
        """A table or view that other cursors do not see: it is temporary, or its transaction is open."""
        names = ((*TEMPORARY, *source.table), self._qualify(source.table))
        return next(([Found((self.table(name),))] for name in names if self._columns_of_connection(name)), [])

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

    def _parse(self, text: str) -> SyntaxTree:
        return read_tree(self._ask("SELECT json_serialize_sql(?)", text)[0][0])

    def _ask(self, text: str, *values: str) -> list[Any]:
        return list(self._cursor.execute(text, list(values)).fetchall())


def _is_path(name: str) -> bool:
    return "." in name or "/" in name


def _absolute(naming: Naming, path: str) -> str:
    """The path as everybody else may read it. URIs and absolute paths stay as they are."""
    named = naming.file(path)
    return named.name if named.namespace == "file" and "://" not in path else path
