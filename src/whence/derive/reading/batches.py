"""Stage 1, read: log records to readings, in Arrow batches, by the same pure reader as the collector's."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pyarrow as pa

from whence.derive.reading.chunks import split_chunks
from whence.derive.reading.garbage_collection import pause_collection
from whence.derive.reading.record import FlatEvent, encode_warnings, kind_of, read_record, state_of
from whence.derive.reading.schema import LISTS, READING_SCHEMA, SCALARS, list_of
from whence.derive.rows.sql_selection import is_enrichment_enabled
from whence.log import Record
from whence.model.events import RunEvent
from whence.model.ids import event_id, event_id_rest, hash64

ARROW_ROWS = 256
"""Rows per Arrow batch: 64 to 500 measured best (reference spark.md)."""

ARROW_BYTES = 16 * 2**20
"""Bytes of events per Arrow batch, which takes a few times that. A larger event gets a batch of its own."""


def read_batches(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    """The readings of records, in order (`schema.READING_SCHEMA`)."""
    enriching = is_enrichment_enabled()
    for chunk in split_chunks(records, (lambda _: 1, ARROW_ROWS), (lambda record: len(record.payload), ARROW_BYTES)):
        with pause_collection():
            readings = to_batch([_reading(record, enriching) for record in chunk])
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


def _reading(record: Record, enriching: bool) -> Reading:
    head = (record.position.as_int, event_id(record.key), event_id_rest(record.key))
    match read_record(record, reads_sql=enriching):
        case FlatEvent() as flat:
            return (*head, *_scalars(flat)), _lists(flat)
        case unreadable:
            return (*head, unreadable, *(None,) * (len(SCALARS) - 4)), _NO_LISTS


def _scalars(flat: FlatEvent) -> tuple[object, ...]:
    event = flat.event
    producer = (hash64(event.producer), event.producer)
    event_columns = (
        None,
        int(kind_of(event)),
        event.time,
        int(state_of(event)),
        *producer,
        encode_warnings(event),
        flat.subject,
    )
    run_columns: tuple[object, ...] = (None,) * 5
    if flat.run is not None and isinstance(event, RunEvent):
        run_columns = (*flat.run, int(event.job.streaming), int(event.run.partial))
    return (*event_columns, flat.version, flat.declarer, int(flat.ends), *run_columns)


def _lists(flat: FlatEvent) -> tuple[tuple[tuple[object, ...], ...], ...]:
    return (
        flat.datasets,
        flat.jobs,
        flat.containers,
        flat.facets,
        flat.run_facets,
        flat.aliases,
        flat.schemas,
        flat.sets,
    )
