"""Sends captured events: first to a file, then to the collector, so that nothing is lost while it is unavailable."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from whence.capture.dbt import Warehouse, capture, unread_results
from whence.capture.sql import Catalog
from whence.capture.sql_log import FORMATS, Flaw, Line, Settings, capture_logs, capture_scripts, format_of
from whence.cli.output.streams import Exit, Output, print_document, print_error, print_lines, safe
from whence.cli.sending.ingest import Ingested, ingest
from whence.cli.sending.reports import SHOWN, restricted_lines
from whence.cli.sql.schemas import columns_from
from whence.errors import ApiError, DialectError, WhenceError
from whence_client.outbox.destinations import destination_of
from whence_client.outbox.spool import Spool, new_path
from whence_client.process.parent import parent_of_process
from whence_client.process.settings import read_settings
from whence_client.redaction.walk import redact_event

SCRIPTS = "sql"
"""The format of files that are SQL scripts."""

PATIENCE_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """The options for query logs."""

    form: str
    dialect: str | None
    namespace: str
    jobs: str
    database: str = ""
    schema: str = ""
    columns: str | None = None
    prefix: str = ""
    workers: int | None = None
    spark: bool = False
    store: str = ""
    """The URL of Whence's own store, if `columns` refers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DbtOptions:
    """The options for a dbt project."""

    namespace: str | None
    jobs: str
    project: Path | None
    columns: str | None = None
    store: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The result of sending. `kept`: the file with the events that the collector did not accept, empty if it accepted
    all.
    """

    events: int
    flaws: tuple[Flaw, ...]
    unread: int
    sent: Ingested = field(default_factory=Ingested)
    kept: str = ""
    reason: str = ""


@contextmanager
def forgiving(strict: bool) -> Iterator[None]:
    """Unless strict, print errors on stderr without failing, so that the surrounding pipeline continues."""
    try:
        yield
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        if strict:
            raise
        known = error if isinstance(error, WhenceError) else WhenceError(f"{type(error).__name__}: {error}")
        print_error(known, Output.TEXT)
        raise typer.Exit(Exit.OK) from None


def dbt_lines(target: Path, options: DbtOptions) -> Iterator[Line]:
    """The events of a dbt project. Raises ArtifactError, SchemaError, StoreError."""

    def more(where: Warehouse) -> Catalog:
        return columns_from(options.columns, where.dialect, options.store, where.namespace)

    if unread := unread_results(target):
        yield Flaw("run_results.json", unread)
    for event in capture(
        target,
        namespace=options.namespace,
        jobs=options.jobs,
        root=options.project,
        columns=more,
        parent=parent_of_process(),
    ):
        yield msgspec.json.encode(event)


def log_lines(files: Sequence[str], options: LogOptions) -> Iterator[Line]:
    """The events of logs, or of files of SQL. Raises ArtifactError, SchemaError, StoreError."""
    if options.form not in (*FORMATS, SCRIPTS):
        raise typer.BadParameter(f"--format is one of {', '.join((*FORMATS, SCRIPTS))}")
    dialect = options.dialect or (FORMATS[options.form].dialect if options.form in FORMATS else "")
    if not dialect:
        raise typer.BadParameter(f"--format {options.form} needs --dialect")
    settings = Settings(
        dialect=dialect,
        namespace=options.namespace,
        jobs=options.jobs,
        time=time.time_ns() // 1_000,
        database=options.database,
        schema=options.schema,
        catalog=_catalog(options, dialect),
    )
    if options.spark:
        from whence.cli.sending.spark_query_log import spark_lines

        yield from spark_lines(files, options.form, settings, options.workers)
    elif options.form == SCRIPTS:
        yield from chain.from_iterable(capture_scripts(Path(file), settings) for file in files)
    else:
        form = format_of(options.form, options.prefix)
        yield from capture_logs(map(Path, files), form, settings, options.workers)


def send(lines: Iterator[Line], url: str, *, strict: bool, as_json: bool) -> Exit:
    """Send events to the collector and report. What it does not take within 10 s waits in the outbox."""
    destination = destination_of(replace(read_settings(), url=url))
    spool = Spool(new_path(destination.make_folder()))
    try:
        captured = _written(lines, spool)
        try:
            captured = replace(captured, sent=ingest([Path(spool.path)], url, patience=PATIENCE_SECONDS))
            spool.acknowledge(spool.waiting)
        except ApiError as error:
            captured = replace(captured, kept=spool.path, reason=str(error))
    finally:
        spool.close()
    _report(captured, as_json)
    return _exit(captured) if strict else Exit.OK


def show(lines: Iterator[Line], *, strict: bool) -> Exit:
    """Print events, a line each; unreadable input is reported on stderr."""
    unread = 0
    for line in map(_mask_secrets, lines):
        if isinstance(line, Flaw):
            unread += 1
            print_lines([_flaw(line)], Console(stderr=True, highlight=False))
        else:
            sys.stdout.write(f"{line.decode()}\n")
    return Exit.MISTAKE if strict and unread else Exit.OK


def _written(lines: Iterator[Line], spool: Spool) -> Captured:
    events, unread, flaws = 0, 0, list[Flaw]()
    for line in map(_mask_secrets, lines):
        if isinstance(line, Flaw):
            unread += 1
            if len(flaws) < SHOWN:
                flaws.append(line)
        else:
            events += 1
            spool.append(line)
    spool.sync()
    return Captured(events=events, flaws=tuple(flaws), unread=unread)


def _mask_secrets(line: Line) -> Line:
    """The line as it may be written to a file and sent: the collector masks secrets only when they have arrived."""
    if isinstance(line, Flaw):
        return line
    event = msgspec.json.decode(line)
    redacted = redact_event(event, line.decode())
    return line if redacted is event else msgspec.json.encode(redacted)


def _report(captured: Captured, as_json: bool) -> None:
    if as_json:
        print_document({**asdict(captured), "accepted": captured.sent.accepted})
        return
    refused = [
        Text.assemble((safe(one.place), "bold"), ": ", safe(one.reason)) for one in captured.sent.failures[:SHOWN]
    ]
    more = [Text(f"… and {captured.unread - SHOWN:,} more that could not be read")] if captured.unread > SHOWN else []
    print_lines([*map(_flaw, captured.flaws), *more], Console(stderr=True, highlight=False))
    print_lines([*refused, Text(_summary(captured)), *restricted_lines(captured.sent)])


def _summary(captured: Captured) -> str:
    if captured.kept:
        unsent = f"{captured.reason}: {captured.events} events were not sent; they are kept"
        return f"{unsent}, send them with `whence capture flush`"
    unread = f"; {captured.unread} line{'s' * (captured.unread > 1)} could not be read" if captured.unread else ""
    return f"{captured.sent.accepted} of {captured.events} events accepted{unread}"


def _flaw(one: Flaw) -> Text:
    return Text.assemble((safe(one.place), "bold"), ": ", safe(one.reason))


def _exit(captured: Captured) -> Exit:
    if captured.kept:
        return Exit.OUT_OF_SERVICE
    return Exit.MISTAKE if captured.unread or captured.sent.failures else Exit.OK


def _catalog(options: LogOptions, dialect: str) -> Catalog:
    try:
        return columns_from(options.columns, dialect, options.store, options.namespace)
    except DialectError as error:
        raise typer.BadParameter(str(error)) from None
