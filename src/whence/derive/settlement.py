"""Settling by the executors: after much was merged into PostgreSQL, each takes parts of the owners."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from whence.derive.sink import engine_of
from whence.store.engine import StoreAddress
from whence.store.settle import PARTS, settle_part


def settle_parts(session: SparkSession, store: StoreAddress) -> None:
    """Settle all owners, as many parts at a time as there are cores. A part that is settled twice changes nothing."""

    def settle_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column("id").to_pylist():
                settle_part(engine_of(store), part)
        yield from ()

    session.range(0, PARTS, 1, PARTS).mapInArrow(settle_batches, "nothing boolean").collect()
