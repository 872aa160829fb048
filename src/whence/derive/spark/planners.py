"""Spark's planning workers: processes that find and plan data sources written in Python. A stream needs them only until
its first micro-batch, but each stays for a minute, and together they hold 155 MiB.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from pyspark.sql import SparkSession

_MODULE = "pyspark.sql.worker."
"""The beginning of the module that a planning worker runs."""

_END_SECONDS = 10

_planning = Lock()


@contextmanager
def keeping_planners() -> Iterator[None]:
    """Keep the workers while the context is open: a job in it may be planning at any time."""
    with _planning:
        yield


def end_planners(session: SparkSession) -> int:
    """End the workers, unless they are kept, and return how many. Spark forks a new one when it needs one.

    Returns when they are gone, or after 10 s for each that does not go.
    Their daemons must stay: Spark tells a daemon which of its workers ended, and fails if it is not there.
    """
    if not _planning.acquire(blocking=False):
        return 0
    try:
        assert session._jvm is not None
        daemons = session._jvm.java.lang.ProcessHandle.current().children().toArray()
        workers = [worker for daemon in daemons if _is_planner(daemon) for worker in daemon.children().toArray()]
        seconds = session._jvm.java.util.concurrent.TimeUnit.SECONDS
        ended = [worker for worker in workers if worker.destroy()]
        for worker in ended:
            # Until its daemon has reaped it, Spark takes it for an idle worker and hands it to the next query.
            worker.onExit().completeOnTimeout(worker, _END_SECONDS, seconds).join()
        return len(ended)
    finally:
        _planning.release()


def _is_planner(process: Any) -> bool:
    command: str = process.info().commandLine().orElse("")
    return command.rpartition(" ")[2].startswith(_MODULE)
