"""The stream over a log in segments. This process merges what is little: a job of Spark would cost more than that."""

import time
from pathlib import Path
from threading import Condition, Event

from pyspark import InheritableThread
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.micro_batch import run_batch, run_here
from whence.derive.sources.segments import merge_ranges, read_ranges, split_range
from whence.derive.writing.merge import merge_into
from whence.log import Position
from whence.log.segments.log import LANE
from whence.log.segments.read import committed_end
from whence.store.connection.data_key import store_address

LOOK_SECONDS = 0.02
"""Between two looks at the log's end: 30 µs each."""

ROUND_SECONDS = 0.15
"""From the start of one round here to the next, at least: what arrives meanwhile is merged and settled together."""

HERE_BYTES = 32 * 2**20
"""This process merges what is less than this. Two idle cores would be faster with Spark from 4 MiB on; while events
arrive, the collector has one of them, and what a micro-batch costs beside it is taken from both.
"""

TASK_BYTES = 16 * 2**20
"""About the most bytes of the log per micro-batch of Spark and core."""

GROUP = "whence-stream"
"""Of its jobs in Spark."""


class SegmentStream:
    """A thread that derives what arrives from a position on. What is not durable yet is not read."""

    def __init__(
        self, session: SparkSession, directory: Path, engine: Engine, since: Position, here_bytes: int
    ) -> None:
        self._session, self._directory, self._engine = session, directory, engine
        self._here_bytes, self._transform = here_bytes, merge_into(store_address(engine))
        self._stopping, self._changed = Event(), Condition()
        self._reached = since
        self._error: Exception | None = None
        self._runs_in_spark = False
        self._thread = InheritableThread(target=self._run, name=GROUP, daemon=True)

    def start(self) -> "SegmentStream":
        """Start the thread."""
        self._thread.start()
        return self

    def catch_up(self) -> None:
        """See `Stream`."""
        end = committed_end(self._directory)
        with self._changed:
            self._changed.wait_for(lambda: self._reached >= end or self._error or self._stopping.is_set())
        self.wait(0)

    def wait(self, seconds: int) -> bool:
        """See `Stream`. Raises LogCorruptError, or what Spark or the store says."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def stop(self) -> None:
        """See `Stream`."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()
        if self._runs_in_spark:
            self._session.sparkContext.cancelJobGroup(GROUP)
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        try:
            self._session.sparkContext.setJobGroup(GROUP, "the stream", interruptOnCancel=True)
            while not self._stopping.wait(pause):
                pause = self._run_round()
        except Exception as error:
            with self._changed:
                self._error = None if self._stopping.is_set() else error  # a cancelled job fails
                self._changed.notify_all()

    def _run_round(self) -> float:
        """Derive some of what waits. Returns the seconds until the next round."""
        end = committed_end(self._directory)
        if end <= self._reached:
            return LOOK_SECONDS
        began = time.monotonic()
        if not self._waits_more_than(self._here_bytes, end):
            run_here(self._directory, self._engine, self._reached, end)
            self._advance(end)
            return max(LOOK_SECONDS, began + ROUND_SECONDS - time.monotonic())
        self._run_in_spark(end)
        return 0.0

    def _run_in_spark(self, end: Position) -> None:
        """A micro-batch of Spark, of the first that waits."""
        cores = self._session.sparkContext.defaultParallelism
        first = next(merge_ranges(self._directory, self._reached, end, TASK_BYTES * cores), None)
        until = first[1] if first else end
        ranges = split_range(self._directory, self._reached, until, cores)
        merged = read_ranges(self._session, self._directory, ranges, self._transform)
        self._runs_in_spark = True
        run_batch(merged, self._engine, {LANE: until})
        self._runs_in_spark = False
        self._advance(until)

    def _waits_more_than(self, size: int, end: Position) -> bool:
        if not size:
            return True
        first = next(merge_ranges(self._directory, self._reached, end, size), None)
        return first is not None and first[1] < end

    def _advance(self, position: Position) -> None:
        with self._changed:
            self._reached = position
            self._changed.notify_all()
