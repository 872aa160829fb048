"""The event log as a Spark data source for streams and batches (Python Data Source API). It returns readings or, in a
batch, the records themselves.

Options: `path`, the log's directory; `since`, the position to start at. For streams: `batchBytes`, the maximum per
micro-batch. For batches: `until`; `form`, readings or records; `partitionBytes`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes
from pyspark.sql.types import StructType

from whence.derive.reading.batches import read_batches
from whence.derive.reading.records import RECORD_SCHEMA, batch_records
from whence.derive.reading.schema import READING_SCHEMA
from whence.log import Position, Record
from whence.log.segments import committed_end, plan_ranges, read_records, start_position
from whence.log.segments.read import Range

FORMAT = "whence-log"
PARTITION_BYTES = 4 * 2**20

Batches = Callable[[Iterable[Record]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class LogRange(InputPartition):
    """The records between two positions."""

    since: int
    until: int


class LogSource(DataSource):
    """`spark.read.format("whence-log")` and `spark.readStream.format("whence-log")`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(RECORD_SCHEMA if self._returns_records else READING_SCHEMA)

    def reader(self, schema: StructType) -> "LogReader":
        whole = LogRange(int(self.options["since"]), int(self.options["until"]))
        batches = batch_records if self._returns_records else read_batches
        return LogReader(Path(self.options["path"]), whole, int(self.options["partitionBytes"]), batches)

    def streamReader(self, schema: StructType) -> "LogStream":
        return LogStream(Path(self.options["path"]), int(self.options["since"]), int(self.options["batchBytes"]))

    @property
    def _returns_records(self) -> bool:
        return self.options.get("form") == "records"


class LogReader(DataSourceReader):
    """The log from one position to another, as a batch."""

    def __init__(self, directory: Path, whole: LogRange, partition_bytes: int, batches: Batches) -> None:
        self._directory, self._whole = directory, whole
        self._partition_bytes, self._batches = partition_bytes, batches

    def partitions(self) -> Sequence[LogRange]:
        since, until = Position.from_int(self._whole.since), Position.from_int(self._whole.until)
        planned = merge_ranges(self._directory, since, until, self._partition_bytes)
        # Spark treats an empty plan as a plan that is None.
        return [LogRange(low.as_int, high.as_int) for low, high in planned] or [self._whole]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._batches(_records(self._directory, partition))


class LogStream(DataSourceStreamReader):
    """The log from a position on. Offsets are positions; records that are not durable yet are not returned."""

    def __init__(self, directory: Path, since: int, batch_bytes: int) -> None:
        self._directory, self._since, self._batch_bytes = directory, since, batch_bytes

    def initialOffset(self) -> dict[str, int]:
        return {"position": self._since or start_position(self._directory).as_int}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxBytes(self._batch_bytes)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        end = committed_end(self._directory)
        if isinstance(limit, ReadAllAvailable) or end.as_int <= start["position"]:
            return {"position": max(end.as_int, start["position"])}
        first = next(plan_ranges(self._directory, Position.from_int(start["position"]), end, self._batch_bytes), None)
        return {"position": first[1].as_int if first else end.as_int}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[LogRange]:
        since, until = Position.from_int(start["position"]), Position.from_int(end["position"])
        planned = plan_ranges(self._directory, since, until, PARTITION_BYTES)
        # The range may be completely damaged.
        return [LogRange(low.as_int, high.as_int) for low, high in planned] or [LogRange(since.as_int, until.as_int)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_batches(_records(self._directory, partition))


def merge_ranges(directory: Path, since: Position, until: Position, target_bytes: int) -> list[Range]:
    """Split [since, until) into ranges of at least `target_bytes` (except the last), across segments."""
    merged: list[Range] = []
    size = target_bytes
    for low, high in plan_ranges(directory, since, until, target_bytes):
        if size >= target_bytes:
            merged.append((low, high))
            size = 0
        merged[-1] = (merged[-1][0], high)
        size += high.offset - low.offset
    return merged


def _records(directory: Path, partition: InputPartition) -> Iterator[Record]:
    """Read the records in the executor: as readings, their bytes never pass through the JVM."""
    assert isinstance(partition, LogRange)
    return read_records(directory, Position.from_int(partition.since), Position.from_int(partition.until))
