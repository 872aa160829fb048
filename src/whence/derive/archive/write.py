"""Writing of a records frame into the archive's files: each task writes the days it reads, and returns the files."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.archive.table import ArchiveFile
from whence.derive.delta.parquet import Closed, OpenFile, Style
from whence.derive.delta.table import storage
from whence.derive.reading.records import RECORD_SCHEMA
from whence.errors import TableError

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

OPEN_DAYS = 4

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write_files(records: DataFrame, uri: str) -> list[ArchiveFile]:
    """Write a records frame whose partitions are ordered by position. The files are not in the table yet."""
    rows = records.mapInArrow(_writer(uri), from_arrow_schema(FILES_SCHEMA)).collect()
    return [ArchiveFile(**row.asDict()) for row in rows]


def _writer(uri: str) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = [asdict(file) for file in _write_days(storage(uri), uri, batches)]
        yield pa.RecordBatch.from_pylist(written, schema=FILES_SCHEMA)

    return write_batches


def _write_days(files: fs.FileSystem, uri: str, batches: Iterable[pa.RecordBatch]) -> Iterator[ArchiveFile]:
    open_days: dict[str, OpenFile] = {}
    last = -1
    for batch in batches:
        last = _check_order(batch, last, uri)
        for day, part in _split_by_day(batch):
            file = open_days.pop(day, None) or OpenFile(files, f"day={day}", _STYLE)
            file.add(part)
            open_days[day] = file  # keeps the order of last use
            if file.is_full:
                yield _describe_file(day, open_days.pop(day).close())
            if len(open_days) > OPEN_DAYS:
                oldest = next(iter(open_days))
                yield _describe_file(oldest, open_days.pop(oldest).close())
    for day, file in open_days.items():
        yield _describe_file(day, file.close())


def _check_order(batch: pa.RecordBatch, last: int, uri: str) -> int:
    """Check that the positions of a batch ascend from `last` on, and return its last position."""
    positions = pa.concat_arrays([pa.array([last], pa.int64()), batch.column("position")])
    if not pc.all(pc.less(positions[:-1], positions[1:])).as_py():
        raise TableError(uri, "records came out of order; this is a defect of the source")
    return int(positions[-1].as_py())


def _split_by_day(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    days = batch.column("received_at").cast(pa.timestamp("us")).cast(pa.date32())
    distinct_days = pc.unique(days)
    for day in distinct_days:
        yield day.as_py().isoformat(), batch if len(distinct_days) == 1 else batch.filter(pc.equal(days, day))


def _measure(records: pa.Table) -> tuple[int, ...]:
    received = pc.min_max(records["received_at"])
    positions = records["position"]
    return positions[0].as_py(), positions[-1].as_py(), received["min"].as_py(), received["max"].as_py()


_STYLE = Style(
    schema=RECORD_SCHEMA,
    dictionary=("kind", "pointer", "reason"),
    statistics=("position", "received_at", "key"),
    measure=_measure,
)


def _describe_file(day: str, file: Closed) -> ArchiveFile:
    firsts, lasts, lows, highs = zip(*file.measured, strict=True)
    return ArchiveFile(
        path=file.path,
        size=file.size,
        day=day,
        records=file.rows,
        first=min(firsts),
        last=max(lasts),
        received_from=min(lows),
        received_to=max(highs),
    )
