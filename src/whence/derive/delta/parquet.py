"""Parquet files of Delta tables: written row group by row group, read in slices."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from whence.derive.delta.table import storage
from whence.derive.reading.records import BATCH_RECORDS

FILE_BYTES = 256 * 2**20
"""A file that reaches this size is closed, and another one is started."""

ROW_GROUP_BYTES = 16 * 2**20
"""Uncompressed. Arrow holds twice this while it writes, so it bounds the memory of a task."""

SLICE_ROWS = 10_000

_ZSTD_LEVEL = 6
"""Of 1, 3, 6 and 9, on events of 11 kB from daily jobs: 327, 308, 236 and 212 bytes each, at 1370, 1320, 450 and
315 MB/s.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The common settings of a table's files. `measure` returns the numbers to keep for each row group."""

    schema: pa.Schema
    dictionary: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ()
    measure: Callable[[pa.Table], tuple[int, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A written file: its path in the table, and the numbers of its row groups."""

    path: str
    size: int
    rows: int
    measured: tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class OpenFile:
    """A file that is being written, in a folder of the table (or none)."""

    files: fs.FileSystem
    folder: str
    style: Style
    path: str = field(init=False)
    _stream: Any = field(init=False)
    _writer: pq.ParquetWriter = field(init=False)
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _held_bytes: int = 0
    _rows: int = 0
    _measured: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A unique name: a repeated task, or a concurrent writer, writes another file.
        name = f"part-{uuid4()}.zstd.parquet"
        self.path = f"{self.folder}/{name}" if self.folder else name
        if self.folder:
            self.files.create_dir(self.folder)
        self._stream = self.files.open_output_stream(self.path)
        self._writer = pq.ParquetWriter(
            self._stream,
            self.style.schema,
            compression="zstd",
            compression_level=_ZSTD_LEVEL,
            use_dictionary=list(self.style.dictionary),
            write_statistics=list(self.style.statistics),
        )

    @property
    def is_full(self) -> bool:
        """Whether it has `FILE_BYTES`."""
        return bool(self._stream.tell() >= FILE_BYTES)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch; writes a row group once enough is buffered."""
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        if self._held_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> Closed:
        """Write the remaining rows and close the file. Returns its description."""
        self._flush()
        self._writer.close()
        self._stream.close()
        size = self.files.get_file_info(self.path).size
        return Closed(path=self.path, size=size, rows=self._rows, measured=tuple(self._measured))

    def _flush(self) -> None:
        if not self._held:
            return
        table = pa.Table.from_batches(self._held).cast(self.style.schema)
        self._writer.write_table(table, row_group_size=table.num_rows)
        self._rows += table.num_rows
        self._measured.append(self.style.measure(table))
        self._held, self._held_bytes = [], 0


@dataclass(frozen=True, slots=True)
class Slice:
    """One of `of` equal parts of a file's row groups."""

    file: str
    part: int
    of: int


def slices(files: Iterable[tuple[str, int]]) -> list[Slice]:
    """Slices of files, given with their row counts, in order."""
    parts = [(path, -(-rows // SLICE_ROWS)) for path, rows in files]
    return [Slice(path, part, of) for path, of in parts for part in range(of)]


def read_slice(uri: str, part: Slice) -> Iterator[pa.RecordBatch]:
    """The rows of a slice of a table, in batches."""
    with pq.ParquetFile(part.file, filesystem=storage(uri)) as file:
        groups = file.num_row_groups
        selected = range(part.part * groups // part.of, (part.part + 1) * groups // part.of)
        yield from file.iter_batches(BATCH_RECORDS, row_groups=list(selected))
