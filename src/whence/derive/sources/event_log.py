"""The log, of either kind, as a frame for streams and batches."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from whence.derive.reading.data_source import register
from whence.derive.reading.transform import Transform
from whence.derive.sources.log import PARTITION_BYTES, LogSource, merge_ranges
from whence.log import Lane, Lanes, Log, Position
from whence.log.segments.log import LANE, SegmentLog

TASK_BYTES = 16 * 2**20
"""About the most bytes of a log in segments per micro-batch and core."""


class Source(Protocol):
    """A log as Spark reads it: a frame is what a transform returns for the records, applied in the executors."""

    def stream(self, session: SparkSession, since: Lanes, transform: Transform, passed: Path) -> DataFrame:
        """The records from these positions on, as they arrive; without those before the position in the file `passed`,
        if there is one by then.
        """

    def batch(
        self, session: SparkSession, lanes: Sequence[Lane], transform: Transform, task_bytes: int = PARTITION_BYTES
    ) -> DataFrame:
        """All records in these lanes, each partition ordered by position; `task_bytes`: of the log, per task."""

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        """Split the lanes into consecutive portions of about `size` bytes."""

    def reached(self, end: str) -> Lanes:
        """The progress of a store that has all records before an offset, in Spark's form of this source's offsets."""


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """A log in segments."""

    log: SegmentLog

    def stream(self, session: SparkSession, since: Lanes, transform: Transform, passed: Path) -> DataFrame:
        path, start = str(self.log.directory), since[LANE].as_int
        reader = session.readStream.format(register(session, LogSource, transform))
        cores = session.sparkContext.defaultParallelism
        sizes = {"batchBytes": TASK_BYTES * cores, "tasks": cores}
        return reader.options(path=path, since=start, passed=str(passed), **sizes).load()

    def batch(
        self, session: SparkSession, lanes: Sequence[Lane], transform: Transform, task_bytes: int = PARTITION_BYTES
    ) -> DataFrame:
        (lane,) = lanes
        path, since, until = str(self.log.directory), lane.start.as_int, lane.end.as_int
        reader = session.read.format(register(session, LogSource, transform)).options(
            path=path, since=since, until=until
        )
        return reader.options(partitionBytes=task_bytes).load()

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        (lane,) = lanes
        since = lane.start
        for _, until in merge_ranges(self.log.directory, lane.start, lane.end, size):
            yield (Lane(LANE, since, until),)
            since = until

    def reached(self, end: str) -> Lanes:
        return {LANE: Position.from_int(json.loads(end)["position"])}


def make_source(log: Log) -> Source:
    """Make the source with which Spark reads a log."""
    if isinstance(log, SegmentLog):
        return SegmentSource(log)
    # Imported only if used: the client library costs memory and time.
    from whence.derive.sources.kafka import KafkaSource
    from whence.log.kafka.log import KafkaLog

    assert isinstance(log, KafkaLog)
    return KafkaSource(log.address, log.trust)
