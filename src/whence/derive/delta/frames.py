"""Frames to and from Delta tables: executors write the files, one commit adds them to the table."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.transaction import AddAction
from pyspark.sql import DataFrame, SparkSession

from whence.derive.delta.parquet import OpenFile, Slice, Style, read_slice, slices
from whence.derive.delta.table import commit, storage, table_errors
from whence.derive.reading.partitions import read_partitions

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def read_table(session: SparkSession, uri: str, table: DeltaTable, schema: pa.Schema) -> DataFrame:
    """Read the columns of `schema` from the files of a table at its version."""
    rows = pa.table(table.get_add_actions()).select(["path", "num_records"]).to_pylist()
    return read_files(session, uri, [(row["path"], row["num_records"]) for row in rows], schema)


def read_files(session: SparkSession, uri: str, files: Sequence[tuple[str, int]], schema: pa.Schema) -> DataFrame:
    """Read the columns of `schema` from files of a table, given with their row counts."""
    return read_partitions(session, slices(files), partial(_read_columns, uri, schema.names), schema)


def _read_columns(uri: str, names: Sequence[str], part: Slice) -> Iterator[pa.RecordBatch]:
    for batch in read_slice(uri, part):
        yield batch.select(names)


def write_frame(frame: DataFrame, uri: str, schema: pa.Schema) -> list[AddAction]:
    """Write a frame with exactly these columns to files, which are not in the table yet."""
    rows = (
        frame.select(*schema.names).mapInArrow(_writer(uri, schema), "path string, size bigint, rows bigint").collect()
    )
    now = time.time_ns() // 1_000_000
    return [AddAction(row.path, row.size, {}, now, True, json.dumps({"numRecords": row.rows})) for row in rows]


def replace_rows(
    uri: str, table: DeltaTable, files: Sequence[AddAction], schema: pa.Schema, metadata: dict[str, str]
) -> None:
    """Replace all files of the table in one commit with this metadata. Earlier versions stay readable.

    Raises TableBusyError if anybody committed since the table's version.
    """
    commit(
        uri, table, files, schema, CommitProperties(max_commit_retries=0, custom_metadata=metadata), mode="overwrite"
    )
    with table_errors(uri):
        table.update_incremental()


def append_rows(
    uri: str, table: DeltaTable, files: Sequence[AddAction], schema: pa.Schema, metadata: dict[str, str]
) -> None:
    """Add files to the table in one commit with this metadata. Raises TableBusyError as `replace_rows`."""
    commit(uri, table, files, schema, CommitProperties(max_commit_retries=0, custom_metadata=metadata))
    with table_errors(uri):
        table.update_incremental()


def _writer(uri: str, schema: pa.Schema) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        file: OpenFile | None = None
        for batch in batches:
            file = file or OpenFile(storage(uri), "", Style(schema=schema))
            file.add(batch)
            if file.is_full:
                yield _closed(file)
                file = None
        if file:
            yield _closed(file)

    return write_batches


def _closed(file: OpenFile) -> pa.RecordBatch:
    closed = file.close()
    return pa.RecordBatch.from_pydict({"path": [closed.path], "size": [closed.size], "rows": [closed.rows]})
