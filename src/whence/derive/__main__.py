"""`python -m whence.derive`: the pipeline as a process of its own, which `whence up` supervises, or `spark-submit` runs
on a cluster (deploy.md). Prints `ready` once it takes events. Before that it prints `step WHAT` for each step
of its start, and `long-step WHAT` for one without a limit of time.
"""

import argparse
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.blast_radius.refresh import refresh
from whence.derive.pipeline import run_stream
from whence.derive.prepare import Preparation
from whence.derive.progress import resume_positions
from whence.derive.restored_ranges import derive_restored
from whence.derive.spark.jars import jars_for
from whence.derive.spark.jvm import UNSUPERVISED, JvmLimits
from whence.derive.spark.metrics import serving_metrics
from whence.derive.spark.periodic_jobs import Periodic, Schedule
from whence.derive.spark.session import check_session, close_session, open_session
from whence.derive.streams.segments import HERE_BYTES
from whence.derive.streams.stream import Stream
from whence.diagnostics import log_to_stderr
from whence.errors import LogCorruptError, StoreGoneError, WhenceError
from whence.file_modes import restrict_new_files
from whence.log import Log
from whence.log.address import open_log
from whence.store.connection.data_key import provide_key
from whence.store.connection.engine import open_store, read_progress
from whence.store.connection.lock import Check, hold_derive_lock
from whence.store.connection.wal_checkpoint import Checkpoints
from whence.store.lifecycle.purge import resume_purge
from whence.store.migrations.migrate import migrate
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret
from whence.tracing import is_traced, send_traces

log = logging.getLogger(__name__)

LOOK_SECONDS = 1

ATTEMPT = "WHENCE_START_ATTEMPT"
"""Set by a supervisor: 1, and 1 more for each start in a row that took too long."""

JVM_SECONDS = 30
"""For the JVM of a supervised pipeline. They double with each start in a row that took too long."""


def parser() -> argparse.ArgumentParser:
    """The arguments of this process."""
    parser = argparse.ArgumentParser(prog="whence.derive", description=__doc__)
    log_url, store = os.environ.get("WHENCE_LOG"), os.environ.get("WHENCE_STORE")
    parser.add_argument(
        "--log",
        default=log_url,
        required=not log_url,
        help="the event log: a directory, or kafka://HOST:PORT/TOPIC (WHENCE_LOG)",
    )
    parser.add_argument("--store", default=store, required=not store, help="the store's URL (WHENCE_STORE)")
    security = os.environ.get("WHENCE_SECURITY", "")
    parser.add_argument("--security", default=security, help="the security database's URL (WHENCE_SECURITY)")
    parser.add_argument("--master", help="the Spark master; what spark-submit says, else local[2]")
    parser.add_argument(
        "--driver-mib",
        type=float,
        default=os.environ.get("WHENCE_DRIVER_MIB") or HERE_BYTES / 2**20,
        help="of a log in segments, merge less than this many MiB in the driver, without Spark (WHENCE_DRIVER_MIB)",
    )
    parser.add_argument("--alive", type=Path, help="a file to touch every second while the stream lives")
    parser.add_argument(
        "--archive", default=os.environ.get("WHENCE_ARCHIVE"), help="the archive's path or URL (WHENCE_ARCHIVE)"
    )
    parser.add_argument(
        "--tables", default=os.environ.get("WHENCE_TABLES"), help="the published tables' path or URL (WHENCE_TABLES)"
    )
    parser.add_argument(
        "--rebuild", action="store_true", help="derive archive and log into a new store, swap it in, end"
    )
    parser.add_argument(
        "--metrics",
        default=os.environ.get("WHENCE_PIPELINE_METRICS", ""),
        help="HOST:PORT to serve the pipeline's own metrics at (WHENCE_PIPELINE_METRICS); nowhere if not given",
    )
    return parser


def main() -> int:
    """Run until the stream fails (1), the rebuild is done (0) or SIGTERM stops the stream (0). Before the stream runs,
    and in a rebuild, SIGTERM ends the process at once.
    """
    restrict_new_files()
    given = parser().parse_args()
    stopping = Event()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        log_to_stderr(logging.WARNING, wrap=True)
        if is_traced():
            send_traces("whence-pipeline")
        if given.rebuild:
            from whence.derive.rebuild import rebuild

            event_log = _open_log(given)
            session = open_session(given.master, jars=jars_for(event_log))
            rebuild(session, event_log, given.store, given.archive)
            return 0
        stream(given, stopping)
    except WhenceError as error:
        log.error("%s", error)
    return 0 if stopping.is_set() else 1


def stream(given: argparse.Namespace, stopping: Event) -> None:
    """Derive from the log into the store until the stream fails or `stopping` is set. A store that goes away is waited
    for, and the stream goes on in the same session: a new one would take ten times as long as the store.

    Raises StoreBusyError, EncryptionError, StoreError, LogError.
    """
    engine, event_log = open_store(given.store), _open_log(given)
    session: SparkSession | None = None
    with serving_metrics(given.metrics):
        while not stopping.is_set():
            try:
                with hold_derive_lock(engine) as check_lock:
                    _report("long-step upgrades the store's tables")
                    migrate(engine)
                    provide_key(engine)
                    _report("long-step finishes what retention began")
                    resume_purge(engine, check_lock)
                    session = session or _open_session(given, event_log)
                    _stream_once(given, _Stations(session, event_log, engine, check_lock), stopping)
            except StoreGoneError as error:
                if session is None:
                    raise
                log.warning("%s", error)
                stopping.wait(LOOK_SECONDS)
    if session is not None:
        close_session(session)


def _open_session(given: argparse.Namespace, event_log: Log) -> SparkSession:
    _report("long-step looks for Spark's libraries")
    jars = jars_for(event_log)
    _report("step starts Spark")
    return open_session(given.master, jars=jars, limits=_jvm_limits(os.environ.get(ATTEMPT, "")))


def _jvm_limits(attempt: str) -> JvmLimits:
    """Under a supervisor, the JVM's temporary files are deleted for it."""
    return JvmLimits(JVM_SECONDS * 2.0 ** (int(attempt) - 1), signal.SIGKILL) if attempt else UNSUPERVISED


def _report(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # the supervisor reads these lines


def _open_log(given: argparse.Namespace) -> Log:
    """Raises LogError, and StoreError if the log is a topic and the security database does not answer."""
    return open_log(given.log, partial(signing_secret, given.security or security_url(given.store)))


@dataclass(frozen=True, slots=True)
class _Stations:
    """The source and the target of a stream."""

    session: SparkSession
    log: Log
    engine: Engine
    check_lock: Check


def _stream_once(given: argparse.Namespace, at: _Stations, stopping: Event) -> None:
    """Raises StoreGoneError when the store's lock is lost, and what the stream raises if that is not why it failed."""
    with tempfile.TemporaryDirectory(prefix="whence-", ignore_cleanup_errors=True) as scratch:
        seals = at.log.list_seals()
        derive_restored(at.session, at.log, at.engine, seals)
        stream = run_stream(at.session, at.log, at.engine, Path(scratch) / "checkpoint", int(given.driver_mib * 2**20))
        schedule = Schedule(at.session, at.engine, scheduled_jobs(at.log, given))
        schedule.start()
        signal.signal(signal.SIGTERM, lambda *_: stopping.set())
        _report("ready")
        checkpoints, preparation = Checkpoints(at.engine), Preparation(given.master)
        try:
            while not stopping.is_set() and at.log.list_seals() == seals and not _has_ended(stream, at):
                at.check_lock()
                check_session(at.session)
                checkpoints.shorten_if_quiet()
                preparation.start_if_due()
                if given.alive:
                    given.alive.touch()
        finally:
            preparation.stop()
            schedule.stop()
            stream.stop()


def _has_ended(stream: Stream, at: _Stations) -> bool:
    """Whether the stream ends while this waits. A call into the JVM must not be broken off, so it is left again and
    again. Damage ends a stream; once it is sealed, the next one passes it.
    """
    try:
        return stream.wait(LOOK_SECONDS)
    except Exception as error:  # Spark's, the store's or the log's
        at.check_lock()
        is_damage = isinstance(error, LogCorruptError) or LogCorruptError.__name__ in str(error)
        if not (is_damage and at.log.seal_damage(resume_positions(at.log, read_progress(at.engine)))):
            raise
        return True


def scheduled_jobs(event_log: Log, given: argparse.Namespace) -> Iterable[Periodic]:
    """What runs beside the stream, and how often."""
    minutes = float(os.environ.get("WHENCE_BLAST_MINUTES", "10"))
    if minutes > 0:
        yield Periodic(name="blast", every=60 * minutes, run=refresh)
    minutes = float(os.environ.get("WHENCE_ARCHIVE_MINUTES", "0"))
    if minutes > 0 and given.archive:
        yield Periodic(name="archive", every=60 * minutes, run=partial(_archive, event_log, given.archive))
    minutes = float(os.environ.get("WHENCE_PUBLISH_MINUTES", "0"))
    if minutes > 0 and given.tables:
        yield Periodic(name="publish", every=60 * minutes, run=partial(_publish, given.tables, given.archive))


def _archive(event_log: Log, archive: str, session: SparkSession, _: Engine) -> bool:
    from whence.derive.archive.copy import archive_in_background  # only where it is used: it costs memory

    archive_in_background(session, event_log, archive)
    return True  # where there was nothing to do, too: asking costs requests to the archive's storage


def _publish(tables: str, archive: str | None, session: SparkSession, engine: Engine) -> bool:
    from whence.derive.kpis.measure import measure
    from whence.derive.lineage_tables.job import publish

    publish(session, engine, tables)
    measure(session, tables, archive, datetime.now(UTC))
    return True


if __name__ == "__main__":
    sys.exit(main())
