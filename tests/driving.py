"""The pipeline as a process of its own, as `whence up` and `spark-submit` run it."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from spark_cluster import environment
from whence.log import Log
from whence.store.engine import read_progress

PATIENCE_SECONDS = 400


def derive(log_url: str, engine: Engine) -> list[str]:
    """The pipeline's arguments."""
    return ["--log", log_url, "--store", engine.url.render_as_string(hide_password=False)]


@contextmanager
def driving(command: Sequence[str], directory: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A driver while the context is open; SIGTERM ends it."""
    with (directory / "driver.log").open("ab") as errors:
        driver = subprocess.Popen(
            command, env=environment() | variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        )
    with driver:
        try:
            yield driver
        finally:
            driver.send_signal(signal.SIGTERM)
            driver.wait(PATIENCE_SECONDS)


def until(driver: "subprocess.Popen[bytes]", is_so: Callable[[], bool]) -> None:
    """Wait until something is so. Raises AssertionError if the driver ended, or nothing happens."""
    deadline, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while not is_so():
        assert driver.poll() is None, "the driver ended"
        assert time.monotonic() < deadline, "nothing happens"
        pause.wait(0.05)


def has_all(engine: Engine, log: Log) -> bool:
    """Whether the store is where the log ends."""
    reached = read_progress(engine)
    return all(reached.get(lane.name, -1) >= lane.end.as_int for lane in log.lanes())
