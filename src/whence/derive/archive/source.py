"""The archive's files as frames."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from whence.derive.archive.table import Archive, ArchiveFile
from whence.derive.delta.parquet import Slice, read_slice, slices
from whence.derive.delta.table import table_errors
from whence.derive.reading.partitions import read_partitions
from whence.derive.reading.records import to_records
from whence.derive.reading.transform import Transform
from whence.log import Position, Record


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records to read: those received before a time (microseconds UTC), and those with a position in one of the
    ranges [first, end); all if None.
    """

    before: int | None = None
    ranges: Sequence[tuple[int, int]] | None = None

    def files_of(self, archive: Archive) -> list[ArchiveFile]:
        """The files that may have some."""
        return [
            file
            for file in archive.files()
            if (self.before is None or file.received_from < self.before)
            and (self.ranges is None or any(file.first < end and file.last >= first for first, end in self.ranges))
        ]

    def select(self, records: Iterable[Record]) -> Iterator[Record]:
        """Those of these records."""
        for record in records:
            position = record.position.as_int
            if (self.before is None or record.received_at < self.before) and (
                self.ranges is None or any(first <= position < end for first, end in self.ranges)
            ):
                yield record


ALL = Selection()


def read_archive(session: SparkSession, archive: Archive, transform: Transform, selection: Selection) -> DataFrame:
    """What a transform returns for the archive's records."""
    return read_files(session, archive.uri, selection.files_of(archive), transform, selection)


def read_files(
    session: SparkSession, uri: str, files: Iterable[ArchiveFile], transform: Transform, selection: Selection = ALL
) -> DataFrame:
    """The same for some of its files; partitions are in the order of the files and of their records."""
    parts = slices((file.path, file.records) for file in files)
    return read_partitions(session, parts, partial(_transform_part, uri, selection, transform), transform.schema)


def _transform_part(uri: str, selection: Selection, transform: Transform, part: Slice) -> Iterator[pa.RecordBatch]:
    return transform.run(selection.select(_records(uri, part)))


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


def _records(uri: str, part: Slice) -> Iterator[Record]:
    for batch in read_slice(uri, part):
        yield from to_records(batch)
