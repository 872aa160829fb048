"""DuckDB, in this process: without files, network or extensions, with bounds on memory and time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, Final, TypeVar

from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.faithfulness import NotTriedError
from whence.capture.sql.trials.generation.tables import Database, InputTable
from whence.capture.sql.trials.generation.values import Shape
from whence.capture.sql.trials.plans import Plan
from whence.model.names import DatasetName

if TYPE_CHECKING:
    import duckdb

_MOST_SECONDS: Final = 1.5
"""Of one version on one database."""
_MOST_CPU_SECONDS: Final = 15
"""For all datasets of a head, until it is known whether they differ."""
_BROKEN: Final = {"BinderException", "ParserException", "CatalogException", "NotImplementedException"}
_LOOK_SECONDS: Final = 0.1
_MOST_TIMEOUTS: Final = 4
_DIGITS: Final = ".12g"
_TOO_LONG: Final = "it takes too long"
_SETTINGS: Final = (
    "SET TimeZone = 'Europe/Zurich'",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_Found = TypeVar("_Found")
INSTALL: Final = "it needs DuckDB: pip install 'whence-lineage[trials]'"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a version made of one dataset: the types of its columns, by name in lower case, and each row's values."""

    types: Mapping[str, str]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A version does not run on a database. `is_broken`: on none."""

    message: str
    is_broken: bool


Outcome = Mapping[DatasetName, Rows] | Failure


class Deadline:
    """Interrupts a connection that takes too long: one thread that looks now and then."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self._connection = connection
        self._end: float | None = None
        self._closed = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def set(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def clear(self) -> None:
        self._end = None

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_SECONDS):
            end = self._end
            if end is not None and monotonic() > end:
                self._end = None
                self._connection.interrupt()


@dataclass(slots=True)
class Laboratory:
    """Tables in DuckDB on which both versions run, one database after the other."""

    connection: "duckdb.DuckDBPyConnection"
    tables: Sequence[InputTable]
    deadline: "Deadline"
    timeouts: int = 0
    _end: float = field(default_factory=lambda: process_time() + _MOST_CPU_SECONDS)

    def check_time(self) -> None:
        """Raise NotTriedError if it took too long."""
        if process_time() > self._end or self.timeouts >= _MOST_TIMEOUTS:
            raise NotTriedError(_TOO_LONG)

    def load(self, database: Database) -> None:
        """Replace the rows of all tables."""
        for table, rows in zip(self.tables, database.rows, strict=True):
            name = quoted_name(table.parts)
            self.connection.execute(f"DELETE FROM {name}")
            if rows:
                listed = ", ".join(f"({', '.join(row)})" for row in rows)
                self.connection.execute(f"INSERT INTO {name} VALUES {listed}")

    def run(self, plan: Plan, shown: Callable[[object], str] = repr) -> Outcome:
        """What a version makes of the loaded database, which stays as it is. `shown`: how a value is written."""
        found = self.attempt(lambda: dict(self._results(plan, shown)))
        self.timeouts += isinstance(found, Failure) and found.message == _TOO_LONG
        return found

    def attempt(self, execute: Callable[[], _Found], seconds: float = _MOST_SECONDS) -> _Found | Failure:
        """What statements give; nothing of what they change stays."""
        import duckdb

        self.connection.execute("BEGIN")
        self.deadline.set(seconds)
        try:
            return execute()
        except duckdb.InterruptException:
            return Failure(_TOO_LONG, is_broken=False)
        except duckdb.Error as error:
            return Failure(str(error).splitlines()[0], type(error).__name__ in _BROKEN)
        finally:
            self.deadline.clear()
            with suppress(duckdb.Error):
                self.connection.execute("ROLLBACK")

    def _results(self, plan: Plan, shown: Callable[[object], str]) -> Iterator[tuple[DatasetName, Rows]]:
        if plan.is_one_query:
            ((name, _),) = plan.outputs.items()
            yield name, self._fetch(plan.steps[0].sql, shown)
            return
        for step in plan.steps:
            if step.table is not None:
                self._make_schema(step.table.parts)
                self.connection.execute(f"CREATE OR REPLACE TABLE {quoted_name(step.table.parts)} AS {step.sql}\n")
            else:
                self.connection.execute(step.sql)
        for name, table in plan.outputs.items():
            yield name, self._fetch(f"FROM {quoted_name(table.parts)}", shown)

    def fetch_table(self, table: InputTable) -> Rows:
        return self._fetch(f"FROM {quoted_name(table.parts)}")

    def _make_schema(self, parts: Sequence[str]) -> None:
        if len(parts) > 1:
            self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted_name(parts[:-1])}")

    def _fetch(self, sql: str, shown: Callable[[object], str] = repr) -> Rows:
        cursor = self.connection.execute(sql)
        described = cursor.description or []
        types = {str(name).lower(): str(kind) for name, kind, *_ in described}
        if len(types) != len(described):
            raise NotTriedError("two of its columns have one name")
        rows = tuple(tuple(map(shown, map(plain, row))) for row in cursor.fetchall())
        return Rows(types, tuple(types), rows)

    def holds(self, shape: Shape, values: Sequence[str], name: str, condition: str) -> tuple[bool | None, ...] | None:
        """Whether a condition on a column is true of each of the values; None if it does not run."""
        import duckdb

        listed = ", ".join(f"({place}, {value})" for place, value in enumerate(values))
        sql = (
            f"SELECT TRY(CAST(({condition}) AS BOOLEAN)) FROM ("
            f"SELECT place, CAST(value AS {shape.type}) AS {_quoted(name)} FROM (VALUES {listed}) AS t(place, value)"
            ") ORDER BY place"
        )
        try:
            return tuple(row[0] for row in self.connection.execute(sql).fetchall())
        except duckdb.Error:
            return None

    def are_of(self, shape: Shape, values: Sequence[str]) -> list[str]:
        """The literals that are values of a type."""
        import duckdb

        fits = ", ".join(f"TRY_CAST({value} AS {shape.type}) IS NOT NULL" for value in values)
        try:
            found = self.connection.execute(f"SELECT {fits}").fetchone()
        except duckdb.Error:
            return []
        return [value for value, fit in zip(values, found or (), strict=True) if fit]


@contextmanager
def open_laboratory(tables: Sequence[InputTable], others: Sequence[Table]) -> Iterator[Laboratory]:
    """`others`: tables that the versions make. Raises NotTriedError without DuckDB, or if no tables can be made."""
    try:
        import duckdb
    except ImportError:
        raise NotTriedError(INSTALL) from None
    catalogs = {table.parts[0].lower(): table.parts[0] for table in tables if len(table.parts) > 2}
    catalogs |= {table.parts[0].lower(): table.parts[0] for table in others if len(table.parts) > 2}
    if len(catalogs) > 1:
        raise NotTriedError("it reads several databases")
    connection = duckdb.connect(config={"threads": 1, "memory_limit": "400MB", "max_temp_directory_size": "0MB"})
    try:
        _prepare(connection, tables, others, catalogs)
        deadline = Deadline(connection)
        try:
            yield Laboratory(connection, tables, deadline)
        finally:
            deadline.close()
    except duckdb.Error as error:
        raise NotTriedError(f"DuckDB cannot make its tables: {str(error).splitlines()[0]}") from None
    finally:
        connection.close()


def _prepare(
    connection: Any, tables: Sequence[InputTable], others: Sequence[Table], catalogs: Mapping[str, str]
) -> None:
    for name in catalogs.values():
        connection.execute(f"ATTACH ':memory:' AS {_quoted(name)}")
        connection.execute(f"USE {_quoted(name)}")
    for setting in _SETTINGS:
        connection.execute(setting)
    schemas = [one.parts[:-1] for one in tables] + [one.parts[:-1] for one in others]
    for schema in filter(None, dict.fromkeys(schemas)):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted_name(schema)}")
    for table in tables:
        columns = ", ".join(f"{_quoted(column.name)} {column.shape.type}" for column in table.columns)
        connection.execute(f"CREATE TABLE {quoted_name(table.parts)} ({columns})")


def plain(value: object) -> object:
    """A value without the digits that the order of floating-point arithmetic decides."""
    return float(format(value, _DIGITS)) if isinstance(value, float) else value


def quoted_name(parts: Sequence[str]) -> str:
    return ".".join(map(_quoted, parts))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
