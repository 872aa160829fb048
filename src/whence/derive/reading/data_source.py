"""Spark data sources of records (Python Data Source API): executors apply a transform to the records of a partition
where they read them, so that no record passes through the JVM.
"""

import pickle
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from whence.derive.reading.transform import Transform
from whence.log import Record


class RecordSource(DataSource):
    """A source of records, whose subclasses say where they are. `register` binds a subclass to a transform."""

    format: ClassVar[str]
    columns: ClassVar[StructType]
    transform: ClassVar[bytes]
    """Pickled: Spark's planning processes get the source too, but need not import what the transform needs."""

    @classmethod
    def name(cls) -> str:
        return cls.format

    def schema(self) -> StructType:
        return self.columns


def bind_transform(source: type[RecordSource], transform: Transform) -> type[RecordSource]:
    """A source with a transform, under a name of its own: several are in use at a time."""
    pickled = pickle.dumps(transform)
    format_ = f"{source.format}-{blake2b(pickled, digest_size=8).hexdigest()}"
    bound = {"format": format_, "columns": from_arrow_schema(transform.schema), "transform": pickled}
    return type(source.__name__, (source,), bound)


def register(session: SparkSession, source: type[RecordSource], transform: Transform) -> str:
    """Make a source with a transform known to Spark, and return the name of its format."""
    bound = bind_transform(source, transform)
    session.dataSource.register(bound)
    return bound.name()


def apply_transform(pickled: bytes, records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    """In an executor: what the transform of a source returns for the records of a partition."""
    transform: Transform = pickle.loads(pickled)  # Spark pickled the source around it just the same
    return transform.run(records)
