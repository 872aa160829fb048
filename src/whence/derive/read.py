"""Stage 1, read: records of the log to readings, in Arrow batches, by the same pure reader that the collector uses."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.collection import uncollected
from whence.derive.reading import Said, kind_of, read_record, state_of, warnings_text
from whence.derive.schema import LISTS, READING_SCHEMA, SCALARS, list_of
from whence.log import Kind, Position, Record
from whence.model.events import RunEvent


def read(records: DataFrame) -> DataFrame:
    """One reading per record."""
    return records.mapInArrow(read_batches, from_arrow_schema(READING_SCHEMA))


def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Readings of batches of records (`schema.RECORDS`)."""
    for batch in batches:
        records = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        with uncollected():
            readings = to_batch([_reading(*values) for values in records])
        yield readings


Reading = tuple[tuple[object, ...], tuple[tuple[tuple[object, ...], ...], ...]]
"""Scalars, then lists, in the order of the schema."""


def to_batch(readings: Sequence[Reading]) -> pa.RecordBatch:
    """Readings as one Arrow batch, column by column."""
    scalars = zip(*(scalar for scalar, _ in readings), strict=True)
    arrays = [pa.array(values, type_) for values, type_ in zip(scalars, SCALARS.values(), strict=True)]
    lists = zip(*(nested for _, nested in readings), strict=True)
    arrays += [_list_array(values, columns) for values, columns in zip(lists, LISTS.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=READING_SCHEMA)


def _list_array(values: Sequence[Sequence[tuple[object, ...]]], columns: dict[str, pa.DataType]) -> pa.Array:
    offsets = pa.array(accumulate(map(len, values), initial=0), pa.int32())
    flat = [row for rows in values for row in rows]
    transposed = zip(*flat, strict=True) if flat else [()] * len(columns)
    children = [pa.array(column, type_) for column, type_ in zip(transposed, columns.values(), strict=True)]
    structs = pa.StructArray.from_arrays(children, fields=[pa.field(name, type_) for name, type_ in columns.items()])
    return pa.ListArray.from_arrays(offsets, structs, type=list_of(columns))


_NO_LISTS: tuple[tuple[tuple[object, ...], ...], ...] = ((),) * len(LISTS)


def _reading(position: int, kind: int, key: str, payload: bytes, pointer: str, reason: str) -> Reading:
    place = Position.from_int(position)
    record = Record(
        position=place, kind=Kind(kind), key=key, received_at=0, payload=payload, pointer=pointer, reason=reason
    )
    match read_record(record):
        case Said() as said:
            return _scalars(position, key, said), _lists(said)
        case unreadable:
            return (position, key, unreadable, *(None,) * (len(SCALARS) - 3)), _NO_LISTS


def _scalars(position: int, key: str, said: Said) -> tuple[object, ...]:
    event = said.event
    head = (
        position,
        key,
        None,
        kind_of(event),
        event.time,
        int(state_of(event)),
        event.producer,
        warnings_text(event),
        said.subject,
    )
    if said.run is None or not isinstance(event, RunEvent):
        return (*head, None, None, None, None, None, said.declarer)
    return (*head, *said.run, int(event.job.streaming), int(event.run.partial), said.declarer)


def _lists(said: Said) -> tuple[tuple[tuple[object, ...], ...], ...]:
    return said.datasets, said.jobs, said.fields, said.containers, said.facets, said.aliases, said.sets, said.edges
