"""The blast radius of every node at a million fields and five million column edges: seconds, memory, error.

The error is measured against exact counts of fields drawn at random, found by a breadth-first search from each. The
job itself draws none: it counts for every node.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import SparkSession
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from sqlalchemy import Engine, select

from bench.serve import memory_of
from bench.workloads.graphs import Graph, layered
from whence.derive.blast_radius.count import Effort
from whence.derive.blast_radius.digraphs import build_survey
from whence.derive.blast_radius.graph_arrays import read_lineage
from whence.derive.blast_radius.job import compute, read_graph
from whence.derive.spark.session import open_session
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.graph.blast_radius import GraphTables, blast_radius
from whence.store.migrations.migrate import migrate

FIELDS, EDGES, DRAWN, ASKED_SECONDS = 1_000_000, 5_000_000, 500, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blasted:
    """What one run took. Errors are relative, of estimates only."""

    nodes: int
    read_seconds: float
    seconds: float
    peak_memory: int
    exact_share: float
    errors: NDArray[np.float64]


class Memory(threading.Thread):
    """The most memory that this process and all below it hold while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._done = 0, threading.Event()

    def run(self) -> None:
        """Look twice a second."""
        while not self._done.wait(ASKED_SECONDS):
            self.peak = max(self.peak, memory_of(os.getpid()))

    def finish(self) -> int:
        """The peak, in bytes."""
        self._done.set()
        self.join()
        return self.peak


def fill(store: Path, graph: Graph) -> None:
    """Write the graph into the tables of an empty store, as settling would."""
    with sqlite3.connect(store) as connection:
        insert = connection.executemany
        insert("INSERT INTO dataset VALUES (?, 'bench', ?, 0, 0)", ((one, str(one)) for one in graph.datasets.tolist()))
        insert("INSERT INTO job VALUES (?, 'bench', ?, 0, 0)", ((one, str(one)) for one in graph.jobs.tolist()))
        fields = zip(graph.fields.tolist(), graph.field_dataset.tolist(), strict=True)
        insert("INSERT INTO field VALUES (?, ?, ?, 1)", ((one, of, f"c{one & 1023}") for one, of in fields))
        for shown, word in ((graph.dashboards, "DASHBOARD"), (graph.models, "MODEL")):
            rows = ((one, f'{{"datasetType": "{word}"}}') for one in shown.tolist())
            insert("INSERT INTO facet_body VALUES (?, 'datasetType', 0, ?)", rows)
        names = "owner_id, ordinal, source_id, target_id, source_dataset_id, target_dataset_id"
        same = "aspect, set_id, type, subtype, masking, description, origin, confirmed"
        edges = graph.edges[np.argsort(graph.edges[:, 2], kind="stable")]
        ordinals = np.arange(len(edges))
        columns = np.stack([edges[:, 2], ordinals, edges[:, 0], edges[:, 1], edges[:, 3], edges[:, 4]], axis=1)
        values = "?, ?, ?, ?, ?, ?, 0, 1, 'DIRECT', 'TRANSFORMATION', 0, '', 'columnLineage', 1"
        for start in range(0, len(columns), 100_000):
            insert(f"INSERT INTO edge ({names}, {same}) VALUES ({values})", columns[start : start + 100_000].tolist())
        connection.execute("INSERT INTO progress VALUES ('log', 1)")


def measure(fields: int, edges: int) -> Blasted:
    """Generate, fill, compute, and compare."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        store = Path(directory) / "store.db"
        engine = open_store(sqlite_url(store))
        migrate(engine)
        _fill(store, fields, edges)
        session = open_session()
        session.range(1).count()
        memory = Memory()
        memory.start()
        started = time.perf_counter()
        done = compute(session, engine, time.time_ns() // 1_000, session.sparkContext.defaultParallelism)
        seconds = time.perf_counter() - started
        peak = memory.finish()
        read_seconds = _read(session, engine)
        session.stop()
        exact_share, errors = _errors(engine)
        engine.dispose()
    return Blasted(
        nodes=done.rows,
        read_seconds=read_seconds,
        seconds=seconds,
        peak_memory=peak,
        exact_share=exact_share,
        errors=errors,
    )


def _fill(store: Path, fields: int, edges: int) -> None:
    started = time.perf_counter()
    graph = layered(fields, edges)
    fill(store, graph)
    sys.stdout.write(
        f"graph      {len(graph.fields):,} fields, {len(graph.datasets):,} datasets, {len(graph.jobs):,} jobs; "
        f"{graph.column_edges:,} column edges of {len(graph.edges):,}; "
        f"made and stored in {time.perf_counter() - started:.0f} s\n"
    )
    sys.stdout.flush()


def _read(session: SparkSession, engine: Engine) -> float:
    """Seconds of the job's first task alone: reading the store and condensing."""
    started = time.perf_counter()
    url = engine.url.render_as_string(hide_password=False)
    read_graph(session, url, "", Effort()).persist(StorageLevel.DISK_ONLY).first()
    return time.perf_counter() - started


def _errors(engine: Engine) -> tuple[float, NDArray[np.float64]]:
    """How many of all counts are exact, and the relative errors of the estimates of some fields."""
    with reading(engine) as connection:
        lineage = read_lineage(GraphTables(connection))
        columns = (blast_radius.c.node_id, blast_radius.c.fields, blast_radius.c.datasets, blast_radius.c.estimated)
        found = {node: rest for node, *rest in connection.execute(select(*columns))}
    reach = build_survey(lineage).by_field
    ones = np.ones(len(reach.source))
    graph = csr_array((ones, (reach.source, reach.target)), shape=(reach.vertices, reach.vertices))
    of, fields = np.searchsorted(lineage.datasets, lineage.field_dataset), len(lineage.fields)
    errors = []
    for drawn in np.random.default_rng(2).choice(fields, min(DRAWN, fields), replace=False):
        reached = breadth_first_order(graph, drawn, return_predecessors=False)
        in_whole = reached[(reached >= fields) & (reached < fields + len(lineage.datasets))] - fields
        exact = (np.sum(reached < fields) - 1, len(np.union1d(of[reached[reached < fields]], in_whole)) - 1)
        *counts, estimated = found[int(lineage.fields[drawn])]
        for bit, count, true in zip((2, 1), counts, exact, strict=True):
            if estimated & bit:
                errors.append(count / true - 1)
            elif count != true:
                raise SystemExit(f"{count} is said to be exact, but it is {true}")
    bits = sum(int(rest[-1]).bit_count() for rest in found.values())
    return 1 - bits / (5 * len(found)), np.array(errors)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fields", type=int, default=FIELDS)
    parser.add_argument("--edges", type=int, default=EDGES)
    given = parser.parse_args()
    done = measure(given.fields, given.edges)
    errors = done.errors if len(done.errors) else np.zeros(1)
    off = np.abs(errors)
    sys.stdout.write(
        f"blast      {done.seconds:.0f} s for {done.nodes:,} nodes, {done.read_seconds:.0f} s to read and condense; "
        f"{done.peak_memory / 2**20:,.0f} MiB at most, all processes\n"
        f"           {done.exact_share:.1%} of all counts are exact; {len(done.errors):,} estimates of "
        f"{DRAWN} fields drawn at random are off by\n           {np.sqrt(np.mean(off**2)):.1%} (root mean square), "
        f"{np.median(off):.1%} (median), {np.quantile(off, 0.95):.1%} (95th percentile), "
        f"{np.mean(errors):+.1%} on average\n"
    )


if __name__ == "__main__":
    main()
