"""The last step: executors write rows to the store, one transaction per Arrow batch of a task.

Merges commute and are idempotent, so tasks need no order, and a task that Spark runs twice changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from sqlalchemy import Engine
from sqlalchemy.exc import DataError

from whence.derive.reading.chunks import split_chunks
from whence.derive.reading.garbage_collection import pause_collection
from whence.derive.writing.arrow_facts import ArrowFacts
from whence.errors import CollisionError
from whence.openlineage.json.times import iso
from whence.store.connection.engine import StoreAddress, open_store, reading
from whence.store.ingest.facts import Rows, merge_facts
from whence.store.ingest.retention_summary import forgotten_runs

WRITE_ROWS = 2_000
"""Log records per transaction."""

WRITE_BYTES = 64 * 2**20
"""Bytes of rows per transaction, which bounds an executor's memory if events are large."""

UNSTORABLE_ERRORS = (CollisionError, DataError, OverflowError, UnicodeEncodeError)
"""Errors of a row, not of the store: drivers refuse some values before the database receives them."""

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write_to_store(rows: DataFrame, store: StoreAddress) -> DataFrame:
    """Merge all rows into the store when the returned frame, which has no rows, is run."""
    return rows.mapInArrow(_writer(store), "nothing boolean")


def _writer(store: StoreAddress) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in _group_batches(batches):
            with pause_collection():
                merge_chunk(worker_engine(store), chunk)
        yield from ()

    return write_batches


def merge_chunk(engine: Engine, chunk: pa.Table) -> None:
    """Merge rows (`schema.ROW_SCHEMA`). Events from before the retention horizon go to quarantine: the state that they
    would change is deleted.
    """
    with reading(engine) as connection:
        horizon = forgotten_runs(connection)
    if horizon is not None:
        late = pc.fill_null(pc.less(chunk.column("time"), horizon), False)
        merge_facts(engine, _quarantine_rows(chunk.filter(late), late_event_reason(horizon)))
        chunk = chunk.filter(pc.invert(late))
    _merge(engine, chunk)


def late_event_reason(horizon: int) -> str:
    """The reason for rejecting an event from before the horizon (microseconds UTC)."""
    return f"/eventTime: before {iso(horizon)}, and what happened before then is forgotten here"


def _merge(engine: Engine, chunk: pa.Table) -> None:
    """Merge a chunk. If an identity collides or the store cannot store a value, the event that causes it goes to
    quarantine, so that it cannot stop the events after it.
    """
    try:
        merge_facts(engine, ArrowFacts(chunk))
    except UNSTORABLE_ERRORS as error:
        half = chunk.num_rows // 2
        if half:
            _merge(engine, chunk.slice(0, half))
            _merge(engine, chunk.slice(half))
        else:
            merge_facts(engine, _quarantine_rows(chunk, _describe_error(error)))


def _describe_error(error: Exception) -> str:
    if isinstance(error, CollisionError):
        return str(error)
    return f"the store cannot hold it: {error.orig if isinstance(error, DataError) else error}"


def _quarantine_rows(chunk: pa.Table, reason: str) -> Rows:
    facts = ArrowFacts(chunk)
    events = [(position, id_, rest, reason) for id_, rest, *_, position in facts.rows("event")]
    return Rows({"receipt": [*events, *facts.rows("receipt")]})


def _group_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    for group in split_chunks(
        batches, (lambda batch: batch.num_rows, WRITE_ROWS), (lambda batch: batch.nbytes, WRITE_BYTES)
    ):
        yield pa.Table.from_batches(group)


@cache
def worker_engine(store: StoreAddress) -> Engine:
    """The engine of this executor, reused by its tasks: one connection per Python worker."""
    return open_store(store.url, store.keys)
