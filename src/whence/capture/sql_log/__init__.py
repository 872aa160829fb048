"""Passive capture: queries that databases have logged, as OpenLineage run events (docs/sql-log.md)."""

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
]

MAX_SCRIPT = 16 << 20
"""Bytes of a file of SQL; a larger one is a dump, not a script."""


def capture_log(path: Path, form: Format, settings: Settings, processes: int | None = None) -> Iterator[Line]:
    """The events of a log, `-` for standard input; gzip is seen through. Raises ArtifactError if it cannot be read."""
    return lines_of(_queries(path, form, settings), settings, processes)


def capture_logs(
    paths: Iterable[Path], form: Format, settings: Settings, processes: int | None = None
) -> Iterator[Line]:
    """The events of several logs, one after the other; one that cannot be read is a flaw, and costs no other."""
    queries = chain.from_iterable(_whatever_is_readable(path, form, settings) for path in paths)
    return lines_of(queries, settings, processes)


def _whatever_is_readable(path: Path, form: Format, settings: Settings) -> Iterator[Query | Flaw]:
    try:
        yield from _queries(path, form, settings)
    except ArtifactError as error:
        yield Flaw(error.path, error.reason)


def _queries(path: Path, form: Format, settings: Settings) -> Iterator[Query | Flaw]:
    """What a log says; the time of the file stands for what says none itself."""
    otherwise = _at(settings, path).time
    with _opened(path) as stream:
        name = path.name if str(path) != "-" else "stdin"
        for one in with_temporary(form.read(stream, name)):
            yield one if isinstance(one, Flaw) or one.ended else replace(one, ended=otherwise)


def capture_scripts(path: Path, settings: Settings) -> Iterator[Line]:
    """A job event for each `.sql` file: of a directory all, called by their paths in it."""
    files = sorted(path.rglob("*.sql")) if path.is_dir() else [path]
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        if file.stat().st_size > MAX_SCRIPT:
            yield Flaw(name, f"larger than {MAX_SCRIPT >> 20} MiB")
            continue
        text = file.read_text("utf-8", errors="replace")
        yield msgspec.json.encode(script_event(text, name, _at(settings, file)))


def _at(settings: Settings, path: Path) -> Settings:
    """With the time of the file, for what says none itself."""
    return replace(settings, time=path.stat().st_mtime_ns // 1_000) if path.is_file() else settings


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
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
