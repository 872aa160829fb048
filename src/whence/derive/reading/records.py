"""Log records as a frame: the form in which archives, and logs other than segments, pass them to the pipeline.

One row per record, in the columns of `RECORD_SCHEMA`.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.reading.transform import Transform
from whence.log import Kind, Position, Record

RECORD_SCHEMA = pa.schema(
    {
        "position": pa.int64(),
        "kind": pa.int16(),  # log.record.Kind
        "key": pa.string(),  # 32 hex digits
        "received_at": pa.int64(),  # microseconds UTC
        "payload": pa.binary(),
        "pointer": pa.string(),
        "reason": pa.string(),
        "original": pa.int64(),  # of a receipt: the position of the record it repeats; otherwise null
    }
)


BATCH_RECORDS = 256
"""Records per Arrow batch: 64 to 500 measured best (reference spark.md)."""

BATCH_BYTES = 8 * 2**20
"""A batch of records ends once their payloads have this many bytes."""


def transform_records(records: DataFrame, transform: Transform) -> DataFrame:
    """Apply a transform to a records frame, partition by partition."""
    return records.mapInArrow(partial(_transform, transform), from_arrow_schema(transform.schema))


def _transform(transform: Transform, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return transform.run(record for batch in batches for record in to_records(batch))


def to_records(batch: pa.RecordBatch) -> Iterator[Record]:
    """The records in a batch of `RECORD_SCHEMA`."""
    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        position, kind, key, received_at, payload, pointer, reason, original = row
        yield Record(
            position=Position.from_int(position),
            kind=Kind(kind),
            key=key,
            received_at=received_at,
            payload=payload or b"",
            pointer=pointer or "",
            reason=reason or "",
            original=None if original is None else Position.from_int(original),
        )


def batch_records(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    """Records in order, in batches of bounded size."""
    pending: list[Record] = []
    size = 0
    for record in records:
        pending.append(record)
        size += len(record.payload)
        if len(pending) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield to_batch(pending)
            pending, size = [], 0
    if pending:
        yield to_batch(pending)


def to_batch(records: Iterable[Record]) -> pa.RecordBatch:
    """The inverse of `to_records`."""
    rows = [
        (
            record.position.as_int,
            int(record.kind),
            record.key,
            record.received_at,
            record.payload,
            record.pointer,
            record.reason,
            None if record.original is None else record.original.as_int,
        )
        for record in records
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(RECORD_SCHEMA)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, RECORD_SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=RECORD_SCHEMA)


COPY = Transform(RECORD_SCHEMA, batch_records)
"""The records themselves."""
