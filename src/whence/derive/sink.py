"""The last step: rows into the store, written by the executors, one transaction per Arrow batch of a task.

Merges commute and repeat harmlessly, so tasks need no order, and a task that Spark runs twice changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pyarrow as pa
from pyspark.sql import DataFrame
from sqlalchemy import Engine

from whence.derive.arrow_facts import ArrowFacts
from whence.derive.collection import uncollected
from whence.errors import CollisionError
from whence.store.engine import open_store
from whence.store.facts import Rows, merge_facts

WRITE_ROWS = 2_000
"""Log records per transaction."""

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write(rows: DataFrame, store_url: str) -> DataFrame:
    """Merge all rows into the store when the frame is run; it has no rows of its own."""
    return rows.mapInArrow(_writer(store_url), "nothing boolean")


def _writer(store_url: str) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in _chunks(batches):
            with uncollected():
                _merge(engine_of(store_url), chunk)
        yield from ()

    return write_batches


def _merge(engine: Engine, chunk: pa.Table) -> None:
    """Merge a chunk; where an identity collides, all but the event that brings it, which goes to quarantine."""
    try:
        merge_facts(engine, ArrowFacts(chunk))
    except CollisionError as error:
        half = chunk.num_rows // 2
        if half:
            _merge(engine, chunk.slice(0, half))
            _merge(engine, chunk.slice(half))
        else:
            merge_facts(engine, _refused(chunk, str(error)))


def _refused(chunk: pa.Table, reason: str) -> Rows:
    facts = ArrowFacts(chunk)
    events = [(position, id_, rest, reason) for id_, rest, *_, position in facts.rows("event")]
    return Rows({"receipt": [*events, *facts.rows("receipt")]})


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= WRITE_ROWS:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


@cache
def engine_of(store_url: str) -> Engine:
    """The engine of this executor, kept from task to task: one connection for each Python worker."""
    return open_store(store_url)
