"""Events as they arrive, through Spark's stages and into a store, without the log: for tests that need many small
histories.
"""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import SparkSession
from sqlalchemy import Engine, delete

from whence.derive.pipeline import derive
from whence.derive.read import read_batches
from whence.derive.sink import merge_chunk
from whence.log import Kind, Position, Record
from whence.openlineage.accept import seal
from whence.store.engine import writing
from whence.store.settle import settle
from whence.store.tables import metadata


def accepted(bodies: Sequence[bytes]) -> list[tuple[str, bytes]]:
    """Key and payload of each body, as the collector would log them; a restriction that is in a body stays."""
    return [(one.key, one.payload) for one in map(seal, bodies)]


def rows_of(spark: SparkSession, bodies: Sequence[bytes]) -> pa.Table:
    """One row per body, in order: all stages of the pipeline, in one Spark job."""
    records = [
        Record(position=Position(0, place), kind=Kind.EVENT, key=key, received_at=0, payload=payload)
        for place, (key, payload) in enumerate(accepted(bodies), 1)
    ]
    readings = spark.createDataFrame(pa.Table.from_batches(read_batches(records)))
    return derive(readings.coalesce(1)).toArrow()


def arrive(engine: Engine, table: pa.Table, sizes: Sequence[int]) -> None:
    """Merge and settle rows in batches of these sizes."""
    start = 0
    for size in sizes:
        merge_chunk(engine, table.slice(start, size))
        settle(engine, {"log": start + size + 1})
        start += size


def empty(engine: Engine) -> None:
    """Forget everything."""
    with writing(engine) as connection:
        for table in metadata.sorted_tables:
            connection.execute(delete(table))
