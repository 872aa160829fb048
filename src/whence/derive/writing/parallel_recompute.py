"""Recomputation in the executors: after a large merge into PostgreSQL, each executor takes parts of the owners."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

from whence.derive.writing.merge import worker_engine
from whence.store.connection.engine import StoreAddress
from whence.store.ingest.recompute import PARTS, recompute_part


def settle_parts(session: SparkSession, store: StoreAddress) -> None:
    """Recompute all owners, as many parts at a time as there are cores. Repeating a part changes nothing."""

    def settle_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column("id").to_pylist():
                recompute_part(worker_engine(store), part)
        yield from ()

    session.range(0, PARTS, 1, PARTS).mapInArrow(settle_batches, "nothing boolean").collect()
