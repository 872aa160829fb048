"""A records frame into the archive's files: each task writes the days it meets, and tells what it wrote."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.archive.table import ArchiveFile, storage
from whence.derive.records import RECORD_SCHEMA
from whence.errors import ArchiveError

FILES_SCHEMA = pa.schema(
    {
        "path": pa.string(),
        "size": pa.int64(),
        "day": pa.string(),
        "records": pa.int64(),
        "first": pa.int64(),
        "last": pa.int64(),
        "received_from": pa.int64(),
        "received_to": pa.int64(),
    }
)

FILE_BYTES = 256 * 2**20
ROW_GROUP_BYTES = 16 * 2**20
"""Uncompressed; with what Arrow holds twice while it writes, this bounds the memory of a task."""

OPEN_DAYS = 4
_ZSTD_LEVEL = 6
"""Of 1, 3, 6 and 9, on events of 11 kB from daily jobs: 327, 308, 236 and 212 bytes each, at 1370, 1320, 450 and
315 MB/s.
"""

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write_files(records: DataFrame, uri: str) -> list[ArchiveFile]:
    """Write a records frame, each of whose partitions is ordered by position; the files are not in the table yet."""
    rows = records.mapInArrow(_writer(uri), from_arrow_schema(FILES_SCHEMA)).collect()
    return [ArchiveFile(**row.asDict()) for row in rows]


def _writer(uri: str) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = [asdict(file) for file in _written(storage(uri), uri, batches)]
        yield pa.RecordBatch.from_pylist(written, schema=FILES_SCHEMA)

    return write_batches


def _written(files: fs.FileSystem, uri: str, batches: Iterable[pa.RecordBatch]) -> Iterator[ArchiveFile]:
    open_days: dict[str, _Open] = {}
    last = -1
    for batch in batches:
        last = _checked(batch, last, uri)
        for day, part in _by_day(batch):
            file = open_days.pop(day, None) or _Open(files, day)
            file.add(part)
            open_days[day] = file  # the last one is the one used last
            if file.stream.tell() >= FILE_BYTES:
                yield open_days.pop(day).close()
            if len(open_days) > OPEN_DAYS:
                yield open_days.pop(next(iter(open_days))).close()
    for file in open_days.values():
        yield file.close()


def _checked(batch: pa.RecordBatch, last: int, uri: str) -> int:
    """The last position of a batch, which must ascend from `last` on."""
    positions = pa.concat_arrays([pa.array([last], pa.int64()), batch.column("position")])
    if not pc.all(pc.less(positions[:-1], positions[1:])).as_py():
        raise ArchiveError(uri, "records came out of order; this is a defect of the source")
    return int(positions[-1].as_py())


def _by_day(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    days = batch.column("received_at").cast(pa.timestamp("us")).cast(pa.date32())
    met = pc.unique(days)
    for day in met:
        yield day.as_py().isoformat(), batch if len(met) == 1 else batch.filter(pc.equal(days, day))


@dataclass(slots=True)
class _Open:
    """A file that is being written. Row groups are as large as `ROW_GROUP_BYTES` of records."""

    files: fs.FileSystem
    day: str
    path: str = field(init=False)
    stream: Any = field(init=False)
    writer: pq.ParquetWriter = field(init=False)
    held: list[pa.RecordBatch] = field(default_factory=list)
    held_bytes: int = 0
    spans: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A name of its own: a task that Spark runs twice, or an archiver beside this one, writes another file.
        self.path = f"day={self.day}/part-{uuid4()}.zstd.parquet"
        self.files.create_dir(f"day={self.day}")
        self.stream = self.files.open_output_stream(self.path)
        self.writer = pq.ParquetWriter(
            self.stream,
            RECORD_SCHEMA,
            compression="zstd",
            compression_level=_ZSTD_LEVEL,
            use_dictionary=["kind", "pointer", "reason"],
            write_statistics=["position", "received_at", "key"],
        )

    def add(self, batch: pa.RecordBatch) -> None:
        """Take a batch; write a row group once enough is held."""
        self.held.append(batch)
        self.held_bytes += batch.nbytes
        if self.held_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> ArchiveFile:
        """Write the rest; what the file has."""
        self._flush()
        self.writer.close()
        self.stream.close()
        counts, firsts, lasts, lows, highs = zip(*self.spans, strict=True)
        return ArchiveFile(
            path=self.path,
            size=self.files.get_file_info(self.path).size,
            day=self.day,
            records=sum(counts),
            first=min(firsts),
            last=max(lasts),
            received_from=min(lows),
            received_to=max(highs),
        )

    def _flush(self) -> None:
        if not self.held:
            return
        table = pa.Table.from_batches(self.held).cast(RECORD_SCHEMA)
        self.writer.write_table(table, row_group_size=table.num_rows)
        received = pc.min_max(table["received_at"])
        low, high = received["min"].as_py(), received["max"].as_py()
        self.spans.append((table.num_rows, table["position"][0].as_py(), table["position"][-1].as_py(), low, high))
        self.held, self.held_bytes = [], 0
