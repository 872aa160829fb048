"""Frames whose partitions executors read themselves, so that no record passes through the JVM.

A Python data source of Spark would do the same with four more processes, which only plan.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

Part = TypeVar("Part")
Read = Callable[[Part], Iterator[pa.RecordBatch]]
"""Reads one part, in an executor, which gets the function pickled."""


def read_partitions(session: SparkSession, parts: Sequence[Part], read: Read[Part], schema: pa.Schema) -> DataFrame:
    """A frame with a partition for each part, in their order. `schema` is that of the batches that `read` returns."""
    numbers = session.range(0, len(parts), 1, max(1, len(parts)))
    return numbers.mapInArrow(partial(_read_numbered, tuple(parts), read), from_arrow_schema(schema))


def _read_numbered(
    parts: Sequence[Part], read: Read[Part], numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield from read(parts[number])
