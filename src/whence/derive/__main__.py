"""`python -m whence.derive`: the pipeline as a process of its own, which `whence up` supervises. Prints `ready` once it takes events."""

import argparse
import logging
import signal
import sys
import tempfile
from pathlib import Path

from whence.derive.pipeline import run_stream
from whence.derive.session import open_session
from whence.errors import WhenceError
from whence.store.engine import open_store
from whence.store.lock import deriving
from whence.store.migrate import migrate

log = logging.getLogger(__name__)


def main() -> int:
    """Run until the stream fails (1) or a signal says to stop (0)."""
    parser = argparse.ArgumentParser(prog="whence.derive", description=__doc__)
    parser.add_argument("--log", type=Path, required=True, help="the event log's directory")
    parser.add_argument("--store", required=True, help="the store's URL")
    parser.add_argument("--cache", type=Path, required=True, help="a directory that survives: the JVM's class archive")
    parser.add_argument("--master", default="local[2]", help="the Spark master")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        stream(given.log, given.store, given.cache, given.master)
    except WhenceError as error:
        log.error("%s", error)
        return 1
    return 1  # a stream ends only by failing


def stream(log_directory: Path, store_url: str, cache: Path, master: str) -> None:
    """Derive from the log into the store until the stream fails. Raises StoreBusyError."""
    engine = open_store(store_url)
    with deriving(engine), tempfile.TemporaryDirectory(prefix="whence-") as scratch:
        migrate(engine)
        session = open_session(cache, master)
        query = run_stream(session, log_directory, engine, Path(scratch) / "checkpoint")
        print("ready", flush=True)  # noqa: T201  # the supervisor waits for this line
        query.awaitTermination()


if __name__ == "__main__":
    sys.exit(main())
