"""A query log as a capture: each query is a record, and the cursor is the time of the latest.

A folder is a log, too: what a log rotates into, or the files into which the events of Trino are written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from whence.capture.sql_log import FORMATS, Format, Settings, format_of, read_queries
from whence.capture.sql_log.events import query_events
from whence.capture.sql_log.postgres import DEFAULT_PREFIX
from whence.capture.sql_log.query import Flaw, Query
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window

VERSIONS = Versions("", "")
"""Formats have versions of their own, which the readers distinguish."""

_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLog:
    """One log file, or a folder of them."""

    path: Path
    form: Format
    settings: Settings
    name: str = "sql-log"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The database whose queries these are."""
        return self.settings.namespace

    def check(self) -> Findings:
        """Whether there is a file, or a folder."""
        return Findings(problems=() if self.path.exists() else (f"there is no file {self.path}",))

    def records(self, cursor: object, window: Window) -> Iterator[tuple[Query | Flaw, int]]:
        """The queries since the cursor, less the overlap: sessions end out of order. Raises ArtifactError.

        A file that was not changed since then is not opened.
        """
        latest = cursor if isinstance(cursor, int) else 0
        first = max(latest - int(window.overlap.total_seconds() * _MICROSECONDS), _micros(window.since) or 0)
        last = _micros(window.until)
        for query in self._read(first):
            if isinstance(query, Flaw):
                yield query, latest
            elif query.ended >= first and (last is None or query.ended < last):
                latest = max(latest, query.ended)
                yield query, latest

    def _read(self, first: int) -> Iterator[Query | Flaw]:
        """The queries of the files that may have any from a time on, the file that was changed first first."""
        if self.path.is_file():
            yield from read_queries(self.path, self.form, self.settings)
            return
        files = [one for one in self.path.rglob("*") if one.is_file() and not one.name.startswith(".")]
        for file in sorted(files, key=lambda one: (one.stat().st_mtime_ns, str(one))):
            if file.stat().st_mtime_ns // 1_000 >= first:
                yield from self._read_file(file)

    def _read_file(self, file: Path) -> Iterator[Query | Flaw]:
        try:
            yield from read_queries(file, self.form, self.settings)
        except ArtifactError as error:  # a file that cannot be read must not hide the others
            yield Flaw(error.path, error.reason)

    def translate(self, record: Query | Flaw, naming: Naming) -> list[Json]:
        """The run of a query. Raises ArtifactError for a line that could not be read, DialectError."""
        if isinstance(record, Flaw):
            raise ArtifactError(record.place, record.reason)
        return query_events(record, replace(self.settings, jobs=naming.namespace))


class SqlLogCapture:
    """What the entry point `sql-log` names."""

    name, kind, versions = "sql-log", READ, VERSIONS
    options: Mapping[str, str] = {
        "file": "the log, or a folder of logs; gzip too",
        "format": ", ".join(FORMATS),
        "namespace": "the database, such as postgres://host:5432",
        "dialect": "that of the format if not given",
        "database": "where the log does not say it",
        "schema": "of bare table names",
        "prefix": "the server's log_line_prefix, for the format postgres",
    }

    def check(self) -> Findings:
        """No package is needed."""
        return Findings()

    def translate(self, record: Query | Flaw, naming: Naming) -> list[Json]:
        """A query does not name its database: see `configure`. Raises ValueError."""
        raise ValueError("the capture is not configured: a query needs a database and a dialect")

    def configure(self, options: Mapping[str, str]) -> QueryLog:
        """The capture of one log. Raises ValueError for an option that is missing or wrong."""
        if missing := [name for name in ("file", "format", "namespace") if not options.get(name)]:
            raise ValueError(f"the option {missing[0]}=… is missing: {self.options[missing[0]]}")
        if options["format"] not in FORMATS:
            raise ValueError(f"the option format must be one of {self.options['format']}")
        form = format_of(options["format"], options.get("prefix", DEFAULT_PREFIX))
        settings = Settings(
            dialect=options.get("dialect", form.dialect),
            namespace=options["namespace"],
            jobs=options["namespace"],
            time=0,
            database=options.get("database", ""),
            schema=options.get("schema", ""),
        )
        return QueryLog(path=Path(options["file"]), form=form, settings=settings)


def _micros(at: datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * _MICROSECONDS)


capture = SqlLogCapture()
