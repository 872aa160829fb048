"""Rows of a query history to events: the same pure functions as `capture.sql_log`, over Arrow batches.

Three stages. `queries` reads each row. `sessions` groups the queries of a session in the order in which they ran,
because temporary tables are visible only in their session. `events` parses the SQL.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from whence.capture.sql_log import Flaw, Line, Query, Settings, event_lines
from whence.capture.sql_log.formats import RowReader, query_in
from whence.derive.sql_log.cell_values import normalise_row
from whence.derive.sql_log.source import BROKEN

QUERY_COLUMNS = "session string, at bigint, place string, query binary, flaw string"
"""`at`: microseconds since 1970 UTC; `query`: a packed `Query`; `flaw`: why the row is not a query, otherwise null."""
EVENT_COLUMNS = "place string, event string, flaw string"
"""An OpenLineage event as JSON, or the place of a row without one, with the reason."""

EVENT_ROWS = 256
"""Rows per Arrow batch of the result."""

_SHOWN = 200
"""Characters shown of a line that cannot be read."""
_TYPES = {"string": pa.string(), "bigint": pa.int64(), "binary": pa.binary()}
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Query).decode

Batches = Iterable[pa.RecordBatch]


def logged_events(rows: DataFrame, read: RowReader, name: str, settings: Settings) -> DataFrame:
    """The events (EVENT_COLUMNS) of a frame with one query per row, which `read` parses. Lazy and pure.

    `name` names the frame in the places of its rows; a column `place` is more precise. The events are those of
    `capture.sql_log` over the same rows ordered by time; their own order is unspecified.
    """
    return events(sessions(queries(rows, read, name)), settings)


def queries(rows: DataFrame, read: RowReader, name: str) -> DataFrame:
    """QUERY_COLUMNS: the query of each row, or why it has none. Rows without a query of a user are left out."""
    return rows.mapInArrow(partial(_queries, read, name), QUERY_COLUMNS)


def sessions(queries: DataFrame) -> DataFrame:
    """Put the queries of each session into one partition, in order; queries without a session anywhere."""
    partitioned = queries.repartition(f.when(f.col("session") != "", f.col("session")).otherwise(_anything()))
    return partitioned.sortWithinPartitions("session", "at", "place")


def events(queries: DataFrame, settings: Settings) -> DataFrame:
    """EVENT_COLUMNS: two events per query that touches data of users, or the reason for none."""
    return queries.mapInArrow(partial(_events, pickle.dumps(settings)), EVENT_COLUMNS)


def _anything() -> Column:
    return f.xxhash64("place", "query").cast("string")


def _queries(read: RowReader, name: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = (normalise_row(row) for row in batch.to_pylist())
        found = (_query(read, row, _place(row, name)) for row in rows)
        yield _batch([_query_row(one) for one in found if one is not None], QUERY_COLUMNS)


def _query(read: RowReader, row: dict[str, object], place: str) -> Query | Flaw | None:
    broken = row.get(BROKEN)
    return (
        query_in(read, row, place) if broken is None else Flaw(place, f"not a row of its file: {str(broken)[:_SHOWN]}")
    )


def _place(row: dict[str, object], name: str) -> str:
    place = row.get("place")
    return place if isinstance(place, str) and place else name


def _query_row(query: Query | Flaw) -> tuple[object, ...]:
    match query:
        case Flaw(place, reason):
            return "", 0, place, None, reason
        case Query():
            return query.session, query.started or query.ended, query.place, _pack(query), None


def _events(settings: bytes, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Parse in one process: Spark has one per core. Settings are cached, because a catalog may be large."""
    parsed_lines = event_lines(chain.from_iterable(map(_read, batches)), _settings(settings), processes=1)
    lines = map(_event_row, parsed_lines)
    while batch := list(_taken(lines, EVENT_ROWS)):
        yield _batch(batch, EVENT_COLUMNS)


def _read(batch: pa.RecordBatch) -> Iterator[Query | Flaw]:
    columns = (batch.column(name).to_pylist() for name in ("place", "query", "flaw"))
    for place, query, flaw in zip(*columns, strict=True):
        yield _unpack(query) if flaw is None else Flaw(place, flaw)


@lru_cache(maxsize=1)
def _settings(pickled: bytes) -> Settings:
    settings = pickle.loads(pickled)
    assert isinstance(settings, Settings)
    return settings


def _event_row(line: Line) -> tuple[object, ...]:
    return (line.place, None, line.reason) if isinstance(line, Flaw) else (None, line.decode(), None)


def _taken(lines: Iterator[tuple[object, ...]], count: int) -> Iterator[tuple[object, ...]]:
    for _, line in zip(range(count), lines, strict=False):
        yield line


def _batch(rows: Sequence[tuple[object, ...]], columns: str) -> pa.RecordBatch:
    fields = [column.split() for column in columns.split(", ")]
    schema = pa.schema([(name, _TYPES[type_]) for name, type_ in fields])
    values = zip(*rows, strict=True) if rows else [()] * len(fields)
    return pa.RecordBatch.from_arrays(
        [pa.array(cells, type_) for cells, type_ in zip(values, schema.types, strict=True)], schema=schema
    )
