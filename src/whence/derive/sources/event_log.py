"""The log, of either kind, as a frame for batches."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from whence.derive.reading.transform import Transform
from whence.derive.sources.segments import PARTITION_BYTES, SegmentSource
from whence.log import Lane, Log
from whence.log.segments.log import SegmentLog


class Source(Protocol):
    """A log as Spark reads it: a frame is what a transform returns for the records, applied in the executors."""

    def batch(
        self, session: SparkSession, lanes: Sequence[Lane], transform: Transform, task_bytes: int = PARTITION_BYTES
    ) -> DataFrame:
        """All records in these lanes, each partition ordered by position; `task_bytes`: of the log, per task."""

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        """Split the lanes into consecutive portions of about `size` bytes."""


def make_source(log: Log) -> Source:
    """Make the source with which Spark reads a log."""
    if isinstance(log, SegmentLog):
        return SegmentSource(log)
    # Imported only if used: the client library costs memory and time.
    from whence.derive.sources.kafka import KafkaSource
    from whence.log.kafka.log import KafkaLog

    assert isinstance(log, KafkaLog)
    return KafkaSource(log.address, log.trust)
