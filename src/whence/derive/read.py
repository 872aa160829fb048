"""Stage 1, read: records of the log to readings, in Arrow batches, by the same pure reader that the collector uses."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pyarrow as pa

from whence.derive.chunks import chunks
from whence.derive.collection import uncollected
from whence.derive.enrichment import reads_sql
from whence.derive.reading import Said, kind_of, read_record, state_of, warnings_text
from whence.derive.schema import LISTS, READING_SCHEMA, SCALARS, list_of
from whence.log import Record
from whence.model.events import RunEvent
from whence.model.ids import event_id, hash64, rest_of

ARROW_ROWS = 256
"""Rows per Arrow batch: 64 to 500 measured best (reference spark.md)."""

ARROW_BYTES = 16 * 2**20
"""Bytes of events per Arrow batch: it holds them a few times over. A larger event comes alone."""


def read_batches(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    """The readings of records, in order (`schema.READING_SCHEMA`)."""
    enriching = reads_sql()
    for chunk in chunks(records, (lambda _: 1, ARROW_ROWS), (lambda record: len(record.payload), ARROW_BYTES)):
        with uncollected():
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
    head = (record.position.as_int, event_id(record.key), rest_of(record.key))
    match read_record(record, reads_sql=enriching):
        case Said() as said:
            return (*head, *_scalars(said)), _lists(said)
        case unreadable:
            return (*head, unreadable, *(None,) * (len(SCALARS) - 4)), _NO_LISTS


def _scalars(said: Said) -> tuple[object, ...]:
    event = said.event
    by = (hash64(event.producer), event.producer)
    told = (None, int(kind_of(event)), event.time, int(state_of(event)), *by, warnings_text(event), said.subject)
    of_run: tuple[object, ...] = (None,) * 5
    if said.run is not None and isinstance(event, RunEvent):
        of_run = (*said.run, int(event.job.streaming), int(event.run.partial))
    return (*told, said.version, said.declarer, int(said.ends), *of_run)


def _lists(said: Said) -> tuple[tuple[tuple[object, ...], ...], ...]:
    return (
        said.datasets,
        said.jobs,
        said.containers,
        said.facets,
        said.run_facets,
        said.aliases,
        said.schemas,
        said.sets,
    )
