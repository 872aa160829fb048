"""Stage 3, merge: executors read the records of their partition and merge them into the store, in one pass of one
Python process, a transaction per chunk.

Merges commute and are idempotent, so tasks need no order, and a task that Spark runs twice changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial

import pyarrow as pa
from sqlalchemy import Engine
from sqlalchemy.exc import DataError

from whence.derive.reading.chunks import split_chunks
from whence.derive.reading.flat_event import FlatEvent
from whence.derive.reading.garbage_collection import pause_collection
from whence.derive.reading.record import Reading, read_records
from whence.derive.reading.transform import Transform
from whence.derive.rows.sql_selection import is_enrichment_enabled
from whence.derive.writing.chunk_facts import collect_facts
from whence.errors import CollisionError
from whence.log import Record
from whence.openlineage.json.times import iso
from whence.store.connection.engine import StoreAddress, open_store, reading
from whence.store.ingest.facts import Rows, merge_facts
from whence.store.ingest.retention_summary import forgotten_runs
from whence.store.schema.merge import Row

CHUNK_RECORDS = 2_000
"""Log records per transaction."""

CHUNK_BYTES = 16 * 2**20
"""Bytes of events per transaction, which bounds an executor's memory: rows take a few times that."""

UNSTORABLE_ERRORS = (CollisionError, DataError, OverflowError, UnicodeEncodeError)
"""Errors of a row, not of the store: drivers refuse some values before the database receives them."""

NOTHING = pa.schema({"nothing": pa.bool_()})


def merge_into(store: StoreAddress) -> Transform:
    """The transform that merges records into a store. It returns no batches."""
    return Transform(NOTHING, partial(_merge_partition, store))


def _merge_partition(store: StoreAddress, records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    merge_records(worker_engine(store), records)
    yield from ()


def merge_records(engine: Engine, records: Iterable[Record]) -> None:
    """Read records and merge what they say."""
    reads_sql = is_enrichment_enabled()
    for chunk in split_chunks(records, (lambda _: 1, CHUNK_RECORDS), (lambda one: len(one.payload), CHUNK_BYTES)):
        with pause_collection():
            merge_chunk(engine, read_records(chunk, reads_sql=reads_sql))


def merge_chunk(engine: Engine, chunk: Sequence[Reading]) -> None:
    """Merge readings in one transaction. Events from before the retention horizon go to quarantine: the state that
    they would change is deleted.
    """
    with reading(engine) as connection:
        horizon = forgotten_runs(connection)
    if horizon is not None:
        late = [one for one in chunk if _is_before(one, horizon)]
        merge_facts(engine, _quarantine(late, late_event_reason(horizon)))
        chunk = [one for one in chunk if not _is_before(one, horizon)]
    _merge(engine, chunk)


def late_event_reason(horizon: int) -> str:
    """The reason for rejecting an event from before the horizon (microseconds UTC)."""
    return f"/eventTime: before {iso(horizon)}, and what happened before then is forgotten here"


def _is_before(one: Reading, horizon: int) -> bool:
    return isinstance(one.content, FlatEvent) and one.content.event.time < horizon


def _merge(engine: Engine, chunk: Sequence[Reading]) -> None:
    """Merge a chunk. If an identity collides or the store cannot store a value, the event that causes it goes to
    quarantine, so that it cannot stop the events after it.
    """
    try:
        merge_facts(engine, collect_facts(chunk))
    except UNSTORABLE_ERRORS as error:
        half = len(chunk) // 2
        if half:
            _merge(engine, chunk[:half])
            _merge(engine, chunk[half:])
        else:
            merge_facts(engine, _quarantine(chunk, _describe_error(error)))


def _describe_error(error: Exception) -> str:
    if isinstance(error, CollisionError):
        return str(error)
    return f"the store cannot hold it: {error.orig if isinstance(error, DataError) else error}"


def _quarantine(chunk: Sequence[Reading], reason: str) -> Rows:
    """The outcome of events that are not applied; other records of the chunk keep theirs."""
    return Rows({"receipt": [_receipt(one, reason) for one in chunk]})


def _receipt(one: Reading, reason: str) -> Row:
    own = reason if isinstance(one.content, FlatEvent) else one.content or ""
    return one.position, one.event_id, one.rest, own


@cache
def worker_engine(store: StoreAddress) -> Engine:
    """The engine of this executor, reused by its tasks: one connection per Python worker."""
    return open_store(store.url, store.keys)
