"""`python -m whence.derive`: the pipeline as a process of its own, which `whence up` supervises. Prints `ready` once
it takes events.
"""

import argparse
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from threading import Event

from whence.derive.blast.refresh import refresh
from whence.derive.jars import jars_for
from whence.derive.pipeline import run_stream
from whence.derive.schedule import Periodic, Schedule
from whence.derive.session import close_session, open_session
from whence.errors import WhenceError
from whence.log import Log
from whence.log.address import open_log
from whence.store.engine import open_store
from whence.store.lock import deriving
from whence.store.migrate import migrate

log = logging.getLogger(__name__)

LOOK_SECONDS = 1


def main() -> int:
    """Run until the stream fails (1) or SIGTERM says to stop (0)."""
    parser = argparse.ArgumentParser(prog="whence.derive", description=__doc__)
    parser.add_argument("--log", required=True, help="the event log: a directory, or kafka://HOST:PORT/TOPIC")
    parser.add_argument("--store", required=True, help="the store's URL")
    parser.add_argument("--cache", type=Path, required=True, help="a directory that survives: the JVM's class archive")
    parser.add_argument("--master", default="local[2]", help="the Spark master")
    given = parser.parse_args()
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s", stream=sys.stderr
    )
    stopping = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    try:
        stream(open_log(given.log), given.store, given.cache, given.master, stopping)
    except WhenceError as error:
        log.error("%s", error)
    return 0 if stopping.is_set() else 1


def stream(event_log: Log, store_url: str, cache: Path, master: str, stopping: Event) -> None:
    """Derive from the log into the store until the stream fails or `stopping` is set. Raises StoreBusyError,
    LogError."""
    engine = open_store(store_url)
    with deriving(engine), tempfile.TemporaryDirectory(prefix="whence-", ignore_cleanup_errors=True) as scratch:
        migrate(engine)
        session = open_session(cache, master, jars=jars_for(event_log))
        query = run_stream(session, event_log, engine, Path(scratch) / "checkpoint")
        schedule = Schedule(session, engine, scheduled_jobs())
        schedule.start()
        print("ready", flush=True)  # noqa: T201  # the supervisor waits for this line
        # A call into the JVM must not be broken off: it is left again and again to look.
        while not stopping.is_set() and not query.awaitTermination(LOOK_SECONDS):
            pass
        schedule.stop()
        query.stop()
        close_session(session, cache)


def scheduled_jobs() -> Iterable[Periodic]:
    """What runs beside the stream, and how often."""
    minutes = float(os.environ.get("WHENCE_BLAST_MINUTES", "10"))
    return [Periodic(name="blast", every=60 * minutes, run=refresh)] if minutes > 0 else []


if __name__ == "__main__":
    sys.exit(main())
