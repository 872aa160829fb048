"""The blast radius of every node as a Spark job. One task reads the graph and removes its cycles, the others count
their shares, and each node's row is written where it is computed. Only the graph's hash passes through the driver.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine

from whence.derive.blast_radius.count import UNKNOWN, Effort, Prepared, Share, count_share, prepare
from whence.derive.blast_radius.digraphs import build_survey
from whence.derive.blast_radius.graph_arrays import fingerprint, read_lineage
from whence.derive.blast_radius.reachable_sets import SCALE, standard_error
from whence.errors import StoreError
from whence.model.blast_radius import COUNTED
from whence.store.connection.engine import open_store, reading
from whence.store.connection.lock import hold_blast_lock
from whence.store.graph.blast_radius import Generation, GraphTables, begin, confirm, publish, read_current, write_rows

GRAPH = "progress string, graph string, part int, body binary"
PART_BYTES = 1 << 18
"""The size of a part of the graph: 256 of them are one batch for Python."""

SHARE = "node_id bigint, ranked int, " + ", ".join(
    f"{name}_{part} bigint" for name in COUNTED for part in ("sum", "small", "own")
)
YIELDED = 1 << 16
"""Rows in a batch on its way to the JVM."""

WRITTEN = 50_000
"""Rows in a transaction."""

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """The result of a run: rows written; none if the graph is unchanged since the last run."""

    rows: int
    changed: bool


def compute(session: SparkSession, engine: Engine, at: int, shares: int, effort: Effort | None = None) -> Computed:
    """Compute the blast radius of every node of the store's current graph, unless it is up to date.

    `at` is the time to store, in microseconds UTC; `shares` is how many tasks count at once. Raises StoreBusyError
    if another process computes it.
    """
    effort = effort or Effort()
    url = engine.url.render_as_string(hide_password=False)
    with hold_blast_lock(engine):
        last, number = read_current(engine), begin(engine)
        graph = read_graph(session, url, last.graph if last else "", effort).persist(StorageLevel.DISK_ONLY)
        try:
            progress, digest = graph.select("progress", "graph").first() or ("", "")
            if last and last.graph == digest:
                confirm(engine, progress, at)
                return Computed(rows=0, changed=False)
            counted = combine(count(graph, digest, shares), effort.registers, shares)
            rows = _written(counted, url, number)
        finally:
            graph.unpersist()
        publish(engine, Generation(number, progress, at, standard_error(effort.registers), digest), rows)
        return Computed(rows=rows, changed=True)


def read_graph(session: SparkSession, store_url: str, known: str, effort: Effort) -> DataFrame:
    """The current graph of the store, prepared for counting, in parts (GRAPH): read in one task, as one snapshot.

    If it is the `known` one, only its hash.
    """

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        with reading(_engine(store_url)) as connection:
            tables = GraphTables(connection)
            progress, lineage = tables.progress(), read_lineage(tables)
        graph = fingerprint(lineage)
        # Pickled, because it goes from this job to this job only.
        body = b"" if graph == known else pickle.dumps(prepare(build_survey(lineage), effort), protocol=5)
        for part, start in enumerate(range(0, max(len(body), 1), PART_BYTES)):
            row = {"progress": progress, "graph": graph, "part": part, "body": body[start : start + PART_BYTES]}
            yield pa.RecordBatch.from_pylist([row], _GRAPH_SCHEMA)

    return session.range(0, 1, 1, 1).mapInArrow(read, GRAPH)


def count(graph: DataFrame, digest: str, shares: int) -> DataFrame:
    """Every share's part of every node's counts (SHARE). Raises StoreError in a task that reads another graph."""
    numbers = graph.sparkSession.range(0, shares, 1, 1).select(F.col("id").cast("int").alias("share"))
    each = graph.crossJoin(F.broadcast(numbers)).repartitionById(shares, "share")
    return each.mapInArrow(_counter(digest, shares), SHARE)


def combine(parts: DataFrame, registers: int, shares: int) -> DataFrame:
    """A row per node, as in the table `blast_radius`: node_id, the counts, which of them are estimates."""
    sums = [F.sum(f"{name}_sum").alias(f"{name}_sum") for name in COUNTED]
    others = [F.max(name).alias(name) for one in COUNTED for name in (f"{one}_small", f"{one}_own")]
    nodes = parts.repartition(shares, "node_id").groupBy("node_id").agg(F.max("ranked").alias("ranked"), *sums, *others)
    estimated = [_is_estimated(place, name).cast("int") * (1 << place) for place, name in enumerate(COUNTED)]
    return nodes.select(
        "node_id",
        *(_count(place, name, registers).alias(name) for place, name in enumerate(COUNTED)),
        sum(estimated, F.lit(0)).alias("estimated"),
    )


def _is_estimated(place: int, name: str) -> Column:
    return (F.col("ranked").bitwiseAND(1 << place) != 0) & (F.col(f"{name}_small") == UNKNOWN)


def _count(place: int, name: str, registers: int) -> Column:
    exact = F.when(F.col("ranked").bitwiseAND(1 << place) == 0, F.col(f"{name}_sum"))
    exact = exact.when(F.col(f"{name}_small") != UNKNOWN, F.col(f"{name}_small"))
    estimate = F.round(F.try_divide(F.lit(float((registers - 1) * SCALE)), F.col(f"{name}_sum"))).cast("bigint")
    return F.greatest(F.coalesce(exact, estimate) - F.col(f"{name}_own"), F.lit(0))


def _counter(digest: str, shares: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def count_batches(batches: Batches) -> Iterator[pa.RecordBatch]:
        parts: dict[int, bytes] = {}
        share = -1
        for batch in batches:
            for row in batch.to_pylist():
                if row["graph"] != digest:
                    raise StoreError("the graph changed while a lost task was run again: run `whence blast` again")
                parts[row["part"]], share = row["body"], row["share"]
        if parts:
            prepared: Prepared = pickle.loads(b"".join(parts[part] for part in sorted(parts)))
            parts.clear()
            yield from _rows(prepared, count_share(prepared, share, shares))

    return count_batches


def _rows(prepared: Prepared, found: Share) -> Iterator[pa.RecordBatch]:
    ranked = (found.ranked * (1 << np.arange(len(COUNTED)))).sum(axis=1).astype(np.int32)
    for start in range(0, len(prepared.nodes), YIELDED):
        rows = slice(start, start + YIELDED)
        columns = [prepared.nodes[rows], ranked[rows]]
        for place in range(len(COUNTED)):
            columns += [part[rows, place] for part in (found.sums, found.small, prepared.own)]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=_SHARE_NAMES)


def _written(rows: DataFrame, store_url: str, generation: int) -> int:
    """Write the rows in the executors, and return their number."""

    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            if sum(one.num_rows for one in held) >= WRITTEN:
                yield store(held)
                held = []
        if held:
            yield store(held)

    def store(held: list[pa.RecordBatch]) -> pa.RecordBatch:
        columns = [column.to_pylist() for column in pa.Table.from_batches(held).columns]
        write_rows(_engine(store_url), generation, list(zip(*columns, strict=True)))
        return pa.RecordBatch.from_pydict({"rows": [len(columns[0])]})

    total = rows.mapInArrow(write, "rows bigint").agg(F.sum("rows")).first()
    return int(total[0] or 0) if total else 0


_GRAPH_SCHEMA = pa.schema(
    [("progress", pa.string()), ("graph", pa.string()), ("part", pa.int32()), ("body", pa.binary())]
)
_SHARE_NAMES = [part.split()[0] for part in SHARE.split(", ")]


@cache
def _engine(store_url: str) -> Engine:
    return open_store(store_url)
