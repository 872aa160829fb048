"""A log in segments as a Spark data source, for streams and batches.

Options: `path`, the log's directory; `since`, the position to start at. For streams: `batchBytes`, about the most of a
micro-batch, and `tasks`, the most partitions of one. For batches: `until`, `partitionBytes`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes
from pyspark.sql.types import StructType

from whence.derive.reading.data_source import RecordSource, apply_transform
from whence.log import Position, Record
from whence.log.segments import committed_end, plan_ranges, read_records, start_position
from whence.log.segments.read import Range

PARTITION_BYTES = 16 * 2**20
"""What one task reads of a batch: about a transaction (`writing.merge.CHUNK_BYTES`)."""

PIECE_BYTES = 2 * 2**20
"""A micro-batch of less than this is one partition: a second task would cost more than it saves."""


@dataclass(frozen=True)
class LogRange(InputPartition):
    """The records between two positions."""

    since: int
    until: int


class LogSource(RecordSource):
    """A log in segments, for `spark.read` and `spark.readStream`."""

    format = "whence-log"

    def reader(self, schema: StructType) -> "LogReader":
        whole = LogRange(int(self.options["since"]), int(self.options["until"]))
        return LogReader(Path(self.options["path"]), whole, int(self.options["partitionBytes"]), self.transform)

    def streamReader(self, schema: StructType) -> "LogStream":
        path, since = Path(self.options["path"]), int(self.options["since"])
        batch_bytes, tasks = int(self.options["batchBytes"]), int(self.options["tasks"])
        return LogStream(path, since, Path(self.options["passed"]), batch_bytes, tasks, self.transform)


class LogReader(DataSourceReader):
    """The log from one position to another, as a batch."""

    def __init__(self, directory: Path, whole: LogRange, partition_bytes: int, transform: bytes) -> None:
        self._directory, self._whole = directory, whole
        self._partition_bytes, self._transform = partition_bytes, transform

    def partitions(self) -> Sequence[LogRange]:
        since, until = Position.from_int(self._whole.since), Position.from_int(self._whole.until)
        planned = merge_ranges(self._directory, since, until, self._partition_bytes)
        # Spark treats an empty plan as a plan that is None.
        return [LogRange(low.as_int, high.as_int) for low, high in planned] or [self._whole]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return apply_transform(self._transform, _records(self._directory, partition))


class LogStream(DataSourceStreamReader):
    """The log from a position on. Offsets are positions; records that are not durable yet are not returned, nor are
    those before the position in the file `passed`: the driver derived them, and Spark has not heard of it.
    """

    def __init__(
        self, directory: Path, since: int, passed: Path, batch_bytes: int, tasks: int, transform: bytes
    ) -> None:
        self._directory, self._since, self._passed = directory, since, passed
        self._batch_bytes, self._tasks, self._transform = batch_bytes, tasks, transform

    def initialOffset(self) -> dict[str, int]:
        return {"position": self._since or start_position(self._directory).as_int}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxBytes(self._batch_bytes)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        end, since = committed_end(self._directory), self._skip_passed(start)
        if isinstance(limit, ReadAllAvailable) or end <= since:
            return {"position": max(end, since).as_int}
        first = next(merge_ranges(self._directory, since, end, self._batch_bytes), None)
        return {"position": first[1].as_int if first else end.as_int}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[LogRange]:
        until = Position.from_int(end["position"])
        since = min(self._skip_passed(start), until)
        # The range may be completely damaged.
        pieces = list(plan_ranges(self._directory, since, until, PIECE_BYTES)) or [(since, until)]
        count = min(len(pieces), self._tasks)
        cuts = [len(pieces) * part // count for part in range(count + 1)]
        return [LogRange(pieces[low][0].as_int, pieces[high - 1][1].as_int) for low, high in pairwise(cuts)]

    def _skip_passed(self, start: dict[str, int]) -> Position:
        passed = int(self._passed.read_text("utf-8")) if self._passed.exists() else 0
        return Position.from_int(max(start["position"], passed))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return apply_transform(self._transform, _records(self._directory, partition))


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


def _records(directory: Path, partition: InputPartition) -> Iterator[Record]:
    assert isinstance(partition, LogRange)
    return read_records(directory, Position.from_int(partition.since), Position.from_int(partition.until))
