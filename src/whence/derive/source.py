"""The event log as a Spark data source, for streams and for batches (Python Data Source API): it gives readings.

Options: `path`, the log's directory; `since`, the position to start at; `batchBytes`, the most that one micro-batch
reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes
from pyspark.sql.types import StructType

from whence.derive.read import read_batches
from whence.derive.schema import READING_SCHEMA
from whence.log import Position
from whence.log.segments import committed, plan, read, start

FORMAT = "whence-log"
PARTITION_BYTES = 4 * 2**20


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
        return from_arrow_schema(READING_SCHEMA)

    def reader(self, schema: StructType) -> "LogReader":
        return LogReader(Path(self.options["path"]), int(self.options["since"]), int(self.options["until"]))

    def streamReader(self, schema: StructType) -> "LogStream":
        return LogStream(Path(self.options["path"]), int(self.options["since"]), int(self.options["batchBytes"]))


class LogReader(DataSourceReader):
    """The log from one position to another, as a batch."""

    def __init__(self, directory: Path, since: int, until: int) -> None:
        self._directory, self._since, self._until = directory, since, until

    def partitions(self) -> Sequence[LogRange]:
        return _ranges(self._directory, self._since, self._until)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _readings(self._directory, partition)


class LogStream(DataSourceStreamReader):
    """The log from a position on. Offsets are positions; what is not durable yet is not offered."""

    def __init__(self, directory: Path, since: int, batch_bytes: int) -> None:
        self._directory, self._since, self._batch_bytes = directory, since, batch_bytes

    def initialOffset(self) -> dict[str, int]:
        return {"position": self._since or start(self._directory).as_int}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxBytes(self._batch_bytes)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        end = committed(self._directory)
        if isinstance(limit, ReadAllAvailable) or end.as_int <= start["position"]:
            return {"position": max(end.as_int, start["position"])}
        first = next(iter(plan(self._directory, Position.from_int(start["position"]), end, self._batch_bytes)), None)
        return {"position": first[1].as_int if first else end.as_int}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[LogRange]:
        return _ranges(self._directory, start["position"], end["position"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _readings(self._directory, partition)


def _ranges(directory: Path, since: int, until: int) -> Sequence[LogRange]:
    planned = plan(directory, Position.from_int(since), Position.from_int(until), PARTITION_BYTES)
    return [LogRange(low.as_int, high.as_int) for low, high in planned]


def _readings(directory: Path, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Read where the records are: their bytes, which are most of the log, never pass through the JVM."""
    assert isinstance(partition, LogRange)
    return read_batches(read(directory, Position.from_int(partition.since), Position.from_int(partition.until)))
