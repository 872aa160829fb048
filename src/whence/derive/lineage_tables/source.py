"""The store as a Spark data source: a relation of it (`store/lifecycle/export.py`), in ranges of ids, from one
snapshot.

Options: `url` and `token` of the snapshot; `relation`, by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from sqlalchemy import BigInteger, Boolean, Float, Integer, LargeBinary, SmallInteger, Text

from whence.store.lifecycle.export import RELATIONS, Relation, StoreSnapshot, count_rows, open_snapshot, read_rows

FORMAT = "whence-store"
RANGE_ROWS = 200_000
"""The approximate number of rows per task."""

_TYPES: tuple[tuple[type, pa.DataType], ...] = (
    (BigInteger, pa.int64()),
    (SmallInteger, pa.int16()),
    (Integer, pa.int32()),
    (Text, pa.string()),
    (Boolean, pa.bool_()),
    (Float, pa.float64()),
    (LargeBinary, pa.binary()),
)
_LOWEST, _IDS = -(2**63), 2**64


@dataclass(frozen=True)
class IdRange(InputPartition):
    """The rows with these ids, both ends included."""

    low: int
    high: int


class StoreSource(DataSource):
    """`spark.read.format("whence-store")`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return from_arrow_schema(columns_of(RELATIONS[self.options["relation"]]))

    def reader(self, schema: StructType) -> "StoreReader":
        return StoreReader(StoreSnapshot(self.options["url"], self.options["token"]), self.options["relation"])


class StoreReader(DataSourceReader):
    """A relation, as a batch."""

    def __init__(self, snapshot: StoreSnapshot, relation: str) -> None:
        self._snapshot, self._relation = snapshot, relation

    def partitions(self) -> Sequence[IdRange]:
        with open_snapshot(self._snapshot) as connection:
            parts = -(-count_rows(connection, RELATIONS[self._relation]) // RANGE_ROWS) or 1
        bounds = [_LOWEST + _IDS * part // parts for part in range(parts + 1)]
        return [IdRange(low, high - 1) for low, high in pairwise(bounds)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, IdRange)
        relation = RELATIONS[self._relation]
        schema = columns_of(relation)
        with open_snapshot(self._snapshot) as connection:
            for rows in read_rows(connection, relation, partition.low, partition.high):
                columns = zip(*rows, strict=True)
                arrays = [pa.array(column, type_) for column, type_ in zip(columns, schema.types, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def read_relation(session: SparkSession, snapshot: StoreSnapshot, relation: str) -> DataFrame:
    """A relation of a snapshot."""
    _register(session)
    options = {"url": snapshot.url, "token": snapshot.token, "relation": relation}
    return session.read.format(FORMAT).options(**options).load()


def columns_of(relation: Relation) -> pa.Schema:
    """The columns of a relation."""
    return pa.schema([(column.name, _arrow(column.type)) for column in relation.query.selected_columns])


def _arrow(type_: object) -> pa.DataType:
    return next(arrow for kind, arrow in _TYPES if isinstance(type_, kind))


@cache
def _register(session: SparkSession) -> None:
    """Register the data source, only if something is published: other sessions start without it."""
    session.dataSource.register(StoreSource)
