"""A log in segments: the ranges that the tasks of Spark read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from whence.derive.reading.partitions import read_partitions
from whence.derive.reading.transform import Transform
from whence.log import Lane, Position
from whence.log.segments import plan_ranges, read_records
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.read import Range

PARTITION_BYTES = 16 * 2**20
"""What one task reads of a batch: about a transaction (`writing.merge.CHUNK_BYTES`)."""

PIECE_BYTES = 2 * 2**20
"""A micro-batch of less than this is one partition: a second task would cost more than it saves."""


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """A log in segments as Spark reads it."""

    log: SegmentLog

    def batch(
        self, session: SparkSession, lanes: Sequence[Lane], transform: Transform, task_bytes: int = PARTITION_BYTES
    ) -> DataFrame:
        """See `Source`."""
        (lane,) = lanes
        ranges = list(merge_ranges(self.log.directory, lane.start, lane.end, task_bytes))
        return read_ranges(session, self.log.directory, ranges or [(lane.start, lane.end)], transform)

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        """See `Source`."""
        (lane,) = lanes
        since = lane.start
        for _, until in merge_ranges(self.log.directory, lane.start, lane.end, size):
            yield (Lane(LANE, since, until),)
            since = until


def read_ranges(session: SparkSession, directory: Path, ranges: Sequence[Range], transform: Transform) -> DataFrame:
    """What a transform returns for the records of ranges, each a partition."""
    return read_partitions(session, ranges, partial(transform_range, directory, transform), transform.schema)


def transform_range(directory: Path, transform: Transform, range_: Range) -> Iterator[pa.RecordBatch]:
    """In an executor: what a transform returns for the records of a range."""
    return transform.run(read_records(directory, *range_))


def split_range(directory: Path, since: Position, until: Position, most: int) -> list[Range]:
    """Split [since, until) into at most `most` ranges of similar size; a small range is not split."""
    # A range that is completely damaged has no pieces. It is read all the same, which raises the error.
    pieces = list(plan_ranges(directory, since, until, PIECE_BYTES)) or [(since, until)]
    count = min(len(pieces), most)
    cuts = [len(pieces) * part // count for part in range(count + 1)]
    return [(pieces[low][0], pieces[high - 1][1]) for low, high in pairwise(cuts)]


def merge_ranges(directory: Path, since: Position, until: Position, target_bytes: int) -> Iterator[Range]:
    """Split [since, until) into ranges of at least `target_bytes` (except the last), across segments. The log is read
    only as far as ranges are consumed.
    """
    held: Range | None = None
    size = 0
    for low, high in plan_ranges(directory, since, until, target_bytes):
        if held and size >= target_bytes:
            yield held
            held, size = None, 0
        held = (held[0] if held else low, high)
        size += high.offset - low.offset
    if held:
        yield held
