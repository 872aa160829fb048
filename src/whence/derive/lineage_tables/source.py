"""The store as frames: a relation of it (`store/lifecycle/export.py`), in ranges of ids, from one snapshot."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import BigInteger, Boolean, Float, Integer, LargeBinary, SmallInteger, Text

from whence.derive.reading.partitions import read_partitions
from whence.store.lifecycle.export import RELATIONS, Relation, StoreSnapshot, count_rows, open_snapshot, read_rows

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


IdRange = tuple[int, int]
"""The lowest and the highest id of rows."""


def read_relation(session: SparkSession, snapshot: StoreSnapshot, relation: str) -> DataFrame:
    """A relation of a snapshot, by name."""
    ranges = _split_ids(snapshot, RELATIONS[relation])
    return read_partitions(session, ranges, partial(_read_range, snapshot, relation), columns_of(RELATIONS[relation]))


def _split_ids(snapshot: StoreSnapshot, relation: Relation) -> list[IdRange]:
    with open_snapshot(snapshot) as connection:
        parts = -(-count_rows(connection, relation) // RANGE_ROWS) or 1
    bounds = [_LOWEST + _IDS * part // parts for part in range(parts + 1)]
    return [(low, high - 1) for low, high in pairwise(bounds)]


def _read_range(snapshot: StoreSnapshot, name: str, ids: IdRange) -> Iterator[pa.RecordBatch]:
    relation = RELATIONS[name]
    schema = columns_of(relation)
    with open_snapshot(snapshot) as connection:
        for rows in read_rows(connection, relation, *ids):
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, type_) for column, type_ in zip(columns, schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def columns_of(relation: Relation) -> pa.Schema:
    """The columns of a relation."""
    return pa.schema([(column.name, _arrow(column.type)) for column in relation.query.selected_columns])


def _arrow(type_: object) -> pa.DataType:
    return next(arrow for kind, arrow in _TYPES if isinstance(type_, kind))
