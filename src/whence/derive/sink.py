"""The last step: rows into the store, written by the executors, one transaction per Arrow batch of a task.

Merges commute and repeat harmlessly, so tasks need no order, and a task that Spark runs twice changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from sqlalchemy import Engine
from sqlalchemy.exc import DataError

from whence.derive.arrow_facts import ArrowFacts
from whence.derive.chunks import chunks
from whence.derive.collection import uncollected
from whence.errors import CollisionError
from whence.openlineage.times import iso
from whence.store.engine import StoreAddress, open_store, reading
from whence.store.facts import Rows, merge_facts
from whence.store.summary import forgotten_runs

WRITE_ROWS = 2_000
"""Log records per transaction."""

WRITE_BYTES = 64 * 2**20
"""Bytes of rows per transaction, so that an executor's memory is bounded where events are large."""

UNFIT = (CollisionError, DataError, OverflowError, UnicodeEncodeError)
"""What is wrong with a row and not with the store: drivers refuse some values before the database sees them."""

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write(rows: DataFrame, store: StoreAddress) -> DataFrame:
    """Merge all rows into the store when the frame is run; it has no rows of its own."""
    return rows.mapInArrow(_writer(store), "nothing boolean")


def _writer(store: StoreAddress) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in _tables(batches):
            with uncollected():
                merge_chunk(engine_of(store), chunk)
        yield from ()

    return write_batches


def merge_chunk(engine: Engine, chunk: pa.Table) -> None:
    """Merge rows (`schema.ROW_SCHEMA`). An event from before the time that the store remembers goes to quarantine: what
    it would change is forgotten.
    """
    with reading(engine) as connection:
        horizon = forgotten_runs(connection)
    if horizon is not None:
        late = pc.fill_null(pc.less(chunk.column("time"), horizon), False)
        merge_facts(engine, _refused(chunk.filter(late), too_late(horizon)))
        chunk = chunk.filter(pc.invert(late))
    _merge(engine, chunk)


def too_late(horizon: int) -> str:
    """The reason why an event is refused."""
    return f"/eventTime: before {iso(horizon)}, and what happened before then is forgotten here"


def _merge(engine: Engine, chunk: pa.Table) -> None:
    """Merge a chunk; where an identity collides, or the store cannot hold a value, all but the event that brings it,
    which goes to quarantine: no event may stop those after it.
    """
    try:
        merge_facts(engine, ArrowFacts(chunk))
    except UNFIT as error:
        half = chunk.num_rows // 2
        if half:
            _merge(engine, chunk.slice(0, half))
            _merge(engine, chunk.slice(half))
        else:
            merge_facts(engine, _refused(chunk, _reason(error)))


def _reason(error: Exception) -> str:
    if isinstance(error, CollisionError):
        return str(error)
    return f"the store cannot hold it: {error.orig if isinstance(error, DataError) else error}"


def _refused(chunk: pa.Table, reason: str) -> Rows:
    facts = ArrowFacts(chunk)
    events = [(position, id_, rest, reason) for id_, rest, *_, position in facts.rows("event")]
    return Rows({"receipt": [*events, *facts.rows("receipt")]})


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    for held in chunks(batches, (lambda one: one.num_rows, WRITE_ROWS), (lambda one: one.nbytes, WRITE_BYTES)):
        yield pa.Table.from_batches(held)


@cache
def engine_of(store: StoreAddress) -> Engine:
    """The engine of this executor, kept from task to task: one connection for each Python worker."""
    return open_store(store.url, store.keys)
