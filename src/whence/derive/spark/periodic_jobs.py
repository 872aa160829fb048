"""Periodic Spark jobs in the pipeline's own session, in a thread beside its stream.

A failed job is logged and recorded in the store (`scheduled_job`), where health checks read it; the stream continues.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event

from pyspark import InheritableThread
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.store.status.periodic_jobs import LastRun, read_runs, record_run
from whence.tracing import spanning

log = logging.getLogger(__name__)

LOOK_SECONDS = 5
"""The interval between checks whether a job is due."""

_GROUP = "whence-scheduled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Periodic:
    """A job to run at most every `every` seconds. `run` returns False if there was nothing to do; it is then retried
    soon. Its Spark stages should have at most `free_cores` tasks, so that the stream always finds a core.
    """

    name: str
    every: float
    run: Callable[[SparkSession, Engine], bool]


class Schedule:
    """Runs jobs, one after the other, until it is stopped."""

    def __init__(self, session: SparkSession, engine: Engine, jobs: Iterable[Periodic]) -> None:
        self._session, self._engine, self._jobs = session, engine, tuple(jobs)
        self._stopping, self._is_running = Event(), False
        self._thread = InheritableThread(target=self._work, name=_GROUP, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float = 5) -> None:
        """Cancel the running job, and wait at most `seconds` for its end."""
        self._stopping.set()
        if self._is_running:
            self._session.sparkContext.cancelJobGroup(_GROUP)
        self._thread.join(seconds)

    def _work(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            for job in self._jobs:
                if not self._stopping.is_set():
                    self._look(job)

    def _look(self, job: Periodic) -> None:
        try:
            if is_due(job, read_runs(self._engine).get(job.name), _now()):
                self._is_running = True
                self._run(job)
        except Exception:  # the store does not answer: it may the next time
            log.exception("the scheduled job %s could not be looked after", job.name)
        finally:
            self._is_running = False

    def _run(self, job: Periodic) -> None:
        started, failure = _now(), ""
        self._session.sparkContext.setJobGroup(_GROUP, job.name, interruptOnCancel=True)
        try:
            with spanning(job.name):
                if not job.run(self._session, self._engine):
                    return
        except Exception as error:  # no error of a job may stop the stream
            if self._stopping.is_set():
                return
            log.exception("the scheduled job %s failed", job.name)
            failure = f"{type(error).__name__}: {error}".splitlines()[0]
        record_run(self._engine, LastRun(job.name, started, _now(), failure))


def is_due(job: Periodic, last: LastRun | None, now: int) -> bool:
    """Whether a job may start: its period counts from its last start. Setting the clock back does not stop it."""
    return last is None or not 0 <= now - last.started_at < job.every * 1e6


def free_cores(session: SparkSession) -> int:
    """The number of cores that scheduled jobs may use at once: all but one, which is for the stream."""
    return max(session.sparkContext.defaultParallelism - 1, 1)


def _now() -> int:
    return time.time_ns() // 1_000
