"""Warehouses over HTTP, in the form of their documented APIs: DuckDB runs the statements of a poll, translated.

The rows of their own histories are those of the documented columns; no account of a vendor was asked. So what is
tested is that the statements do what they should in SQL, that their dialect parses, and that pages, cursors, refusals
and names are right.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from fixtures.replies import Request, replying

HERE = Path(__file__).parent
TOKEN = "t0ken"
Json = dict[str, Any]

_TIMES = ("start_time", "end_time", "query_start_time", "last_altered", "deleted", "event_time")


@dataclass
class Emulator:
    """A warehouse; a test changes its tables between polls. `refused` are tables that nobody may read.

    `page`: rows of one part of a result. `slow`: how often a statement is still running when it is asked for.
    """

    dialect: str
    catalog: str
    schemas: dict[str, str]
    refused: set[str] = field(default_factory=set)
    page: int = 3
    slow: int = 0
    statements: list[str] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    url: str = ""
    connection: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _results: dict[str, tuple[list[str], list[list[Any]]]] = field(default_factory=dict)
    _waits: dict[str, int] = field(default_factory=dict)

    def load(self, tables: dict[str, list[Json]]) -> None:
        """Replace the rows of tables."""
        for table, rows in tables.items():
            schema = self.schemas[table]
            self.connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            columns = list(dict.fromkeys(key for row in rows for key in row))
            kinds = ", ".join(f'"{one}" {_kind(one, rows)}' for one in columns)
            self.connection.execute(f'CREATE OR REPLACE TABLE "{schema}"."{table}" ({kinds})')
            marks = ", ".join("?" for _ in columns)
            for row in rows:
                self.connection.execute(
                    f'INSERT INTO "{schema}"."{table}" VALUES ({marks})', [_cell(row.get(one)) for one in columns]
                )

    def run(self, statement: str) -> tuple[list[str], list[list[Any]]]:
        """The columns and rows of a statement; every cell is a text or None. Raises PermissionError, duckdb.Error."""
        self.statements.append(statement)
        for table in self.refused:
            if table in statement:
                raise PermissionError(f"Object '{table}' does not exist or not authorized.")
        text = _translate(statement, self.dialect)
        text = text.replace(f"{self.catalog}.", "").replace("information_schema.", "information_schema_.")
        with self.lock:  # a poll that was killed may still be asking
            found = self.connection.execute(text)
            names = [one[0] for one in found.description or ()]
            return names, [[None if one is None else str(one) for one in row] for row in found.fetchall()]

    def keep(self, statement: str) -> str:
        """Run a statement, and name its result."""
        handle = f"h-{len(self._results)}"
        self._results[handle] = self.run(statement)
        self._waits[handle] = self.slow
        return handle

    def is_ready(self, handle: str) -> bool:
        """Whether a statement is done; each question brings it nearer."""
        self._waits[handle] -= 1
        return self._waits[handle] < 0

    def part(self, handle: str, number: int) -> list[list[Any]]:
        """A part of the rows of a result."""
        return self._results[handle][1][number * self.page :][: self.page]

    def parts(self, handle: str) -> int:
        """How many parts a result has; an empty one has one."""
        return max(1, -(-len(self._results[handle][1]) // self.page))

    def names(self, handle: str) -> list[str]:
        """The columns of a result."""
        return self._results[handle][0]


def answer_snowflake(emulator: Emulator, request: Request) -> tuple[int, Any] | None:
    """The status and the document of a request to the SQL API."""
    if emulator.failures:
        status = emulator.failures.pop(0)
        return (status, {"message": "busy"}) if status else None
    if request.authorization != f"Bearer {TOKEN}":
        return 401, {"code": "390303", "message": "Invalid OAuth access token."}
    if request.method == "POST":
        try:
            handle = emulator.keep(request.body["statement"])
        except (PermissionError, duckdb.Error) as error:
            return 422, {"code": "002003", "message": f"SQL compilation error: {error}", "sqlState": "02000"}
    else:
        handle = request.path.rpartition("/")[2]
        if "partition" in request.query:
            return 200, {"data": emulator.part(handle, int(request.query["partition"]))}
    if not emulator.is_ready(handle):
        return 202, {"code": "333334", "message": "Asynchronous execution in progress.", "statementHandle": handle}
    kinds = [{"name": one.upper(), "type": "text"} for one in emulator.names(handle)]
    parts = [{"rowCount": emulator.page} for _ in range(emulator.parts(handle))]
    metadata = {"numRows": 0, "format": "jsonv2", "rowType": kinds, "partitionInfo": parts}
    return 200, {"resultSetMetaData": metadata, "data": emulator.part(handle, 0), "statementHandle": handle}


def answer_databricks(emulator: Emulator, request: Request) -> tuple[int, Any] | None:
    """The status and the document of a request to the API for statements."""
    if emulator.failures:
        status = emulator.failures.pop(0)
        return (status, {"message": "busy"}) if status else None
    if request.authorization != f"Bearer {TOKEN}":
        return 401, {"error_code": 401, "message": "Credential was not sent or was of an unsupported type"}
    path = request.path.split("/")
    if request.method == "POST":
        try:
            handle = emulator.keep(request.body["statement"])
        except (PermissionError, duckdb.Error) as error:
            failure = {"state": "FAILED", "error": {"error_code": "BAD_REQUEST", "message": str(error)}}
            return 200, {"statement_id": "none", "status": failure}
    elif path[-2] == "chunks":
        return 200, _chunk(emulator, path[-4], int(path[-1]))
    else:
        handle = path[-1]
    if not emulator.is_ready(handle):
        return 200, {"statement_id": handle, "status": {"state": "RUNNING"}}
    columns = [{"name": one, "type_name": "STRING", "position": at} for at, one in enumerate(emulator.names(handle))]
    manifest = {"format": "JSON_ARRAY", "schema": {"column_count": len(columns), "columns": columns}}
    state = {"state": "SUCCEEDED"}
    return 200, {
        "statement_id": handle,
        "status": state,
        "manifest": manifest,
        "result": _chunk(emulator, handle, 0),
    }


def _chunk(emulator: Emulator, handle: str, number: int) -> Json:
    found: Json = {"chunk_index": number, "data_array": emulator.part(handle, number)}
    if number + 1 < emulator.parts(handle):
        found["next_chunk_internal_link"] = f"/api/2.0/sql/statements/{handle}/result/chunks/{number + 1}"
    return found


_SNOWFLAKE = ("query_history", "access_history", "views", "object_dependencies", "columns")
_DATABRICKS = {"history": "query", "table_lineage": "access", "column_lineage": "access"}
_DATABRICKS |= dict.fromkeys(("views", "tables", "columns"), "information_schema_")


@contextmanager
def emulating_snowflake() -> Iterator[Emulator]:
    """An account with the histories in snowflake.json."""
    made = Emulator("snowflake", "snowflake", dict.fromkeys(_SNOWFLAKE, "account_usage"))
    made.load(read_tables("snowflake"))
    with replying(lambda request: answer_snowflake(made, request)) as url:
        made.url = url
        yield made
    made.connection.close()


@contextmanager
def emulating_databricks() -> Iterator[Emulator]:
    """A workspace with the system tables in databricks.json."""
    made = Emulator("databricks", "system", _DATABRICKS)
    made.load(read_tables("databricks"))
    with replying(lambda request: answer_databricks(made, request)) as url:
        made.url = url
        yield made
    made.connection.close()


def read_tables(name: str) -> dict[str, list[Json]]:
    """The rows of a warehouse's own tables."""
    return dict(json.loads((HERE / f"{name}.json").read_text("utf-8")))


@lru_cache
def _translate(statement: str, dialect: str) -> str:
    return sqlglot.transpile(statement, read=dialect, write="duckdb", comments=False)[0]


def _kind(column: str, rows: list[Json]) -> str:
    if column in _TIMES:
        return "TIMESTAMPTZ"
    first = next((row[column] for row in rows if row.get(column) is not None), "")
    if isinstance(first, list | dict):
        return "JSON"
    return "BIGINT" if isinstance(first, int) else "VARCHAR"


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
