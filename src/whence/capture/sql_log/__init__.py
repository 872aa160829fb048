"""Passive capture: queries that databases have logged, as OpenLineage run events (docs/how-to/sql-log.md)."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TextIO

import msgspec

from whence.capture.sql_log.batch import Line, event_lines, lines_of, with_temporary
from whence.capture.sql_log.events import Settings, script_event
from whence.capture.sql_log.formats import FORMATS, Format, format_of
from whence.capture.sql_log.query import Flaw, Query
from whence.errors import ArtifactError

__all__ = [
    "FORMATS",
    "Flaw",
    "Format",
    "Line",
    "Query",
    "Settings",
    "capture_log",
    "capture_logs",
    "capture_scripts",
    "event_lines",
    "format_of",
    "read_queries",
]

MAX_SCRIPT = 16 << 20
"""The greatest size of an SQL file in bytes; a larger one is a dump, not a script."""


def capture_log(path: Path, form: Format, settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """Read the events of a log, `-` for standard input; gzip is decompressed. Raises ArtifactError if the log is
    unreadable.
    """
    return lines_of(read_queries(path, form, settings), settings, processes)


def capture_logs(
    paths: Iterable[Path], form: Format, settings: Settings, processes: int | None = None
) -> Iterator[Line]:
    """Read the events of several logs, one after the other. An unreadable log becomes a flaw and does not stop the
    others.
    """
    queries = chain.from_iterable(_queries_or_flaw(path, form, settings) for path in paths)
    return lines_of(queries, settings, processes)


def _queries_or_flaw(path: Path, form: Format, settings: Settings) -> Iterator[Query | Flaw]:
    try:
        yield from read_queries(path, form, settings)
    except ArtifactError as error:
        yield Flaw(error.path, error.reason)


def read_queries(path: Path, form: Format, settings: Settings) -> Iterator[Query | Flaw]:
    """Read the queries of a log. A query without a time gets the time of the file."""
    file_time = _with_file_time(settings, path).time
    with _open_stream(path) as stream:
        name = path.name if str(path) != "-" else "stdin"
        for entry in with_temporary(form.read(stream, name)):
            yield entry if isinstance(entry, Flaw) or entry.ended else replace(entry, ended=file_time)


def capture_scripts(path: Path, settings: Settings) -> Iterator[Line]:
    """Yield a job event for each `.sql` file; in a directory, jobs are named by their relative paths."""
    files = sorted(path.rglob("*.sql")) if path.is_dir() else [path]
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        if file.stat().st_size > MAX_SCRIPT:
            yield Flaw(name, f"larger than {MAX_SCRIPT >> 20} MiB")
            continue
        text = file.read_text("utf-8-sig", errors="replace")
        yield msgspec.json.encode(script_event(text, name, _with_file_time(settings, file)))


def _with_file_time(settings: Settings, path: Path) -> Settings:
    """The settings with the time of the file as default."""
    return replace(settings, time=path.stat().st_mtime_ns // 1_000) if path.is_file() else settings


@contextmanager
def _open_stream(path: Path) -> Iterator[TextIO]:
    try:
        if str(path) == "-":
            yield io.TextIOWrapper(sys.stdin.buffer, "utf-8", errors="replace")
        elif path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8", errors="replace") as stream:
                yield stream
        else:
            with path.open(encoding="utf-8", errors="replace") as stream:
                yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from error
