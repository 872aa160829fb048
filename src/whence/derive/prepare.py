"""`python -m whence.derive.prepare`: prepares quick starts of the pipeline's JVM. It runs a small
pipeline, so that the class archive has the classes of one; a process of its own, at the lowest priority.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from math import inf
from pathlib import Path

from whence.capture.java import java_home
from whence.death_signal import end_with_parent
from whence.derive.pipeline import run_stream
from whence.derive.spark.prepared_jvm import CACHE, find_prepared, is_preparable, preparing
from whence.derive.spark.session import close_session, is_submitted, open_session
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentWriter
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import dataset, run_event
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

AFTER_SECONDS = 60

RUN = "0190b3a1-0000-7000-8000-000000000001"


def prepare(cache: Path = CACHE) -> None:
    """Prepare, unless that is done or under way. Raises SparkStartError."""
    os.environ["JAVA_HOME"] = str(java_home())
    if not is_preparable():
        return
    with preparing(cache) as jvm, tempfile.TemporaryDirectory(prefix="whence-prepare-") as directory:
        if jvm is None:
            return
        base = Path(directory)
        append_event(base / "log")
        engine = open_store(sqlite_url(base / "store.db"))
        migrate(engine)
        session = open_session(jvm=jvm)
        stream = run_stream(session, SegmentLog(base / "log"), engine, base / "checkpoint")
        stream.catch_up()
        stream.stop()
        close_session(session)
        engine.dispose()


def append_event(log: Path) -> None:
    """Append one event to a log."""
    orders = dataset(DatasetName("postgres://db:5432", "shop.public.orders"))
    event = run_event(0, RunState.COMPLETE, RunName(RUN, JobName("whence", "prepare")), inputs=[orders])
    one = accept(json.dumps(event).encode())
    writer = SegmentWriter(log)
    writer.append([Draft(kind=Kind.EVENT, key=bytes.fromhex(one.key), received_at=0, payload=one.payload)])
    writer.close()


class Preparation:
    """The preparing process of a pipeline that has run for a while: not while it starts, and not for a short one."""

    def __init__(self, master: str | None) -> None:
        is_local = not is_submitted() and (master or "local").startswith("local")
        self._due = time.monotonic() + AFTER_SECONDS if is_local else inf
        self._process: subprocess.Popen[bytes] | None = None

    def start_if_due(self) -> None:
        """Start the process, once, if there is something to prepare. It ends with this thread."""
        if time.monotonic() < self._due:
            return
        self._due = inf
        if find_prepared(CACHE) is None and is_preparable():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "whence.derive.prepare"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                preexec_fn=_be_least_important,
            )

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _be_least_important() -> None:
    end_with_parent()
    os.nice(19)


def main() -> None:
    """Prepare."""
    argparse.ArgumentParser(prog="whence.derive.prepare", description=__doc__).parse_args()
    prepare()


if __name__ == "__main__":
    main()
