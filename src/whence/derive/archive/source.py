"""The archive's files as a Spark data source: readings for a rebuild, or records to be written again.

Options: `path`, the archive; `files`, their paths and record counts, in order, as JSON; `form`; `before`, to read only
records received before a time.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from whence.derive.archive.table import Archive, ArchiveFile
from whence.derive.delta.parquet import read_slice, slices
from whence.derive.delta.table import table_errors
from whence.derive.reading.batches import read_batches
from whence.derive.reading.records import RECORD_SCHEMA, batch_records, to_records
from whence.derive.reading.schema import READING_SCHEMA
from whence.log import Position, Record

FORMAT = "whence-archive"

Form = Literal["readings", "records"]
Batches = Callable[[Iterable[Record]], Iterator[pa.RecordBatch]]


class ArchiveSource(DataSource):
    """`spark.read.format("whence-archive")`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(RECORD_SCHEMA if self._returns_records else READING_SCHEMA)

    def reader(self, schema: StructType) -> "ArchiveReader":
        before = int(self.options["before"]) if "before" in self.options else None
        batches = batch_records if self._returns_records else read_batches
        return ArchiveReader(self.options["path"], json.loads(self.options["files"]), before, batches)

    @property
    def _returns_records(self) -> bool:
        return self.options["form"] == "records"


class ArchiveReader(DataSourceReader):
    """Files of the archive, as a batch."""

    def __init__(self, uri: str, files: list[tuple[str, int]], before: int | None, batches: Batches) -> None:
        self._uri, self._files, self._before, self._batches = uri, files, before, batches

    def partitions(self) -> Sequence[InputPartition]:
        return slices(self._files)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        records = _records(self._uri, partition)
        before = self._before
        return self._batches(
            records if before is None else (record for record in records if record.received_at < before)
        )


def read_archive(session: SparkSession, archive: Archive, form: Form, before: int | None = None) -> DataFrame:
    """The archive's content, or only the records received before a time (microseconds UTC)."""
    files = [file for file in archive.files() if before is None or file.received_from < before]
    return read_files(session, archive.uri, files, form, before)


def read_files(
    session: SparkSession, uri: str, files: Iterable[ArchiveFile], form: Form, before: int | None = None
) -> DataFrame:
    """The content of files of the archive; partitions are in the order of the files and of their records."""
    _register(session)
    options = {"path": uri, "files": json.dumps([(file.path, file.records) for file in files]), "form": form}
    if before is not None:
        options["before"] = str(before)
    return session.read.format(FORMAT).options(**options).load()


def records_between(archive: Archive, since: Position, until: Position) -> Iterator[Record]:
    """The archived records with positions in [since, until), in order, read without Spark. Raises TableError."""
    low, high = since.as_int, until.as_int
    files = [(file.path, file.records) for file in archive.files() if file.first < high and file.last >= low]
    with table_errors(archive.uri):
        archived = [
            record
            for part in slices(files)
            for record in _records(archive.uri, part)
            if since <= record.position < until
        ]
    yield from sorted(archived, key=lambda record: record.position)


@cache
def _register(session: SparkSession) -> None:
    """Register the data source, only if an archive is used: other sessions start without deltalake."""
    session.dataSource.register(ArchiveSource)


def _records(uri: str, part: InputPartition) -> Iterator[Record]:
    for batch in read_slice(uri, part):
        yield from to_records(batch)
