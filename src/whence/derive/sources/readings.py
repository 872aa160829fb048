"""Sources of readings: the log, of either kind, as a frame for streams and batches."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from whence.derive.sources.log import FORMAT, PARTITION_BYTES, merge_ranges
from whence.log import Lane, Lanes, Log, Position
from whence.log.segments.log import LANE, SegmentLog

BATCH_BYTES = 32 * 2**20
"""The maximum bytes of a log in segments per micro-batch."""


class Source(Protocol):
    """A log as Spark reads it."""

    def stream(self, session: SparkSession, since: Lanes) -> DataFrame:
        """The readings (`schema.READING_SCHEMA`) from these positions on, as they arrive."""

    def batch(self, session: SparkSession, lanes: Sequence[Lane]) -> DataFrame:
        """The readings of all records in these lanes."""

    def records(self, session: SparkSession, lanes: Sequence[Lane], task_bytes: int) -> DataFrame:
        """The records (`records.RECORD_SCHEMA`) in these lanes, each partition ordered by position."""

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        """Split the lanes into consecutive portions of about `size` bytes."""

    def reached(self, end: str) -> Lanes:
        """The progress of a store that has all records before an offset, in Spark's form of this source's offsets."""


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """A log in segments."""

    log: SegmentLog

    def stream(self, session: SparkSession, since: Lanes) -> DataFrame:
        path, start = str(self.log.directory), since[LANE].as_int
        return session.readStream.format(FORMAT).options(path=path, since=start, batchBytes=BATCH_BYTES).load()

    def batch(self, session: SparkSession, lanes: Sequence[Lane]) -> DataFrame:
        return self._batch(session, lanes, PARTITION_BYTES, "readings")

    def records(self, session: SparkSession, lanes: Sequence[Lane], task_bytes: int) -> DataFrame:
        return self._batch(session, lanes, task_bytes, "records")

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        (lane,) = lanes
        since = lane.start
        for _, until in merge_ranges(self.log.directory, lane.start, lane.end, size):
            yield (Lane(LANE, since, until),)
            since = until

    def _batch(self, session: SparkSession, lanes: Sequence[Lane], partition_bytes: int, form: str) -> DataFrame:
        (lane,) = lanes
        path, since, until = str(self.log.directory), lane.start.as_int, lane.end.as_int
        reader = session.read.format(FORMAT).options(path=path, since=since, until=until)
        return reader.options(partitionBytes=partition_bytes, form=form).load()

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
