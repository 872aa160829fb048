"""The last step: rows into the store, written by the executors, one transaction per Arrow batch of a task.

Merges commute and repeat harmlessly, so tasks need no order, and a task that Spark runs twice changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from sqlalchemy import Engine

from whence.derive.collection import uncollected
from whence.derive.schema import PACKED, ROWS
from whence.errors import CollisionError
from whence.store.engine import open_store
from whence.store.facts import FacetKey, Pair, Rows, merge_facts
from whence.store.merge import Row
from whence.store.packed import SchemaContent, SetContent, unpack_schema, unpack_set

WRITE_ROWS = 2_000
"""Log records per transaction."""

Write = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def write(rows: DataFrame, store_url: str) -> DataFrame:
    """Merge all rows into the store when the frame is run; it has a row per transaction: the largest log position in
    it.
    """
    return rows.mapInArrow(_writer(store_url), "position bigint")


def _writer(store_url: str) -> Write:
    def write_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in _chunks(batches):
            with uncollected():
                _merge(_engine(store_url), chunk)
            yield pa.RecordBatch.from_pydict({"position": [pc.max(chunk.column("position")).as_py()]})

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


@dataclass(frozen=True, slots=True)
class ArrowFacts:
    """Facts as the pipeline's rows (`schema.ROW_SCHEMA`), flattened and unpacked when asked for."""

    chunk: pa.Table

    def rows(self, table: str) -> list[Row]:
        structs = self._structs(table)
        names = [name for name in ROWS[table] if name not in PACKED.get(table, "")]
        return list(zip(*(structs.field(name).to_pylist() for name in names), strict=True))

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        content = self._content("lineage_set", ("id",), "content", {(one,) for one in ids})
        return {id_: unpack_set(data) for (id_,), data in content.items()}

    def schemas(self, keys: AbstractSet[Pair]) -> Mapping[Pair, SchemaContent]:
        content = self._content("schema_version", ("dataset_id", "body_id"), "content", keys)
        return {(dataset, body): unpack_schema(data) for (dataset, body), data in content.items()}

    def payloads(self, keys: AbstractSet[FacetKey]) -> Mapping[FacetKey, str]:
        content = self._content("facet", ("subject_id", "name", "body_id"), "payload", keys)
        return {(subject, name, body): payload for (subject, name, body), payload in content.items()}

    def _content(self, table: str, keys: tuple[str, ...], column: str, wanted: AbstractSet[Row]) -> Mapping[Row, Any]:
        """The column's value for each wanted key. Equal keys have equal values: one of them is read."""
        if not wanted:
            return {}
        structs = self._structs(table)
        named = zip(*(structs.field(name).to_pylist() for name in keys), strict=True)
        places = {key: place for place, key in enumerate(named)}
        found = {key: places[key] for key in wanted if key in places}
        values = structs.field(column).take(pa.array(found.values(), pa.int64())).to_pylist()
        return dict(zip(found, values, strict=True))

    def _structs(self, table: str) -> pa.StructArray:
        return pc.list_flatten(self.chunk.column(table)).combine_chunks()


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
def _engine(store_url: str) -> Engine:
    return open_store(store_url)
