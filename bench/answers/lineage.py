"""`GET /api/v1/lineage` at depth 20 over HTTP, for clients of Marquez: a component of many jobs, and many small ones.

One component: a DAG of ten layers with 1,000 or 5,000 jobs. Many: teams of 100 jobs each, 10,000 or 50,000 jobs in all.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from sqlalchemy import delete, insert

from bench.answers.query import measure, serving, timing_line, wait_for_arrays
from query.worlds.random_worlds import Statement, World, load
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, JobName
from whence.store.connection.engine import open_store, sqlite_url, writing
from whence.store.ingest.change_log import change_version
from whence.store.migrations.migrate import migrate

LAYERS = 10
TEAM = 100
ASKED = 50
GRAPHS = {
    "1,000 jobs, one component": (1_000, 1_000),
    "5,000 jobs, one component": (5_000, 5_000),
    "10,000 jobs in teams of 100": (10_000, TEAM),
    "50,000 jobs in teams of 100": (50_000, TEAM),
}


def layered_jobs(jobs: int, of_component: int, seed: int = 1) -> Iterator[Statement]:
    """Jobs that read two datasets of the layer before (those of the first layer: a source) and write one."""
    rng = random.Random(seed)
    width = of_component // LAYERS
    for number in range(jobs):
        team, place = divmod(number, of_component)
        layer, at = divmod(place, width)
        # The next one ties a layer together, the other is any.
        read = {(at + 1) % width, rng.randrange(width)} if layer else {at // 2}
        inputs = [_table(team, layer - 1, one) for one in sorted(read)]
        yield _statement(JobName("airflow", f"team_{team}.job_{place}"), inputs, _table(team, layer, at))


def _table(team: int, layer: int, at: int) -> DatasetName:
    return DatasetName("warehouse", f"team_{team}.layer_{layer + 1}.table_{at}")


def _statement(job: JobName, inputs: list[DatasetName], output: DatasetName) -> Statement:
    touched = [Edge(source=job, target=output), *(Edge(source=one, target=job) for one in inputs)]
    derived = [Edge(source=one, target=output, type="DIRECT") for one in inputs]
    edges = (*((one, Origin.BOUNDARY) for one in touched), *((one, Origin.INFERRED) for one in derived))
    return Statement(owner=job, edges=edges)


def main() -> None:
    """Fill, serve, ask, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.lineage", description=__doc__)
    parser.add_argument("--store", help="a database's URL, what is in it is replaced; SQLite if not given")
    parser.add_argument("--only", help="graphs whose name has this text")
    parser.add_argument("--seconds", type=float, default=60, help="for each graph at most")
    parser.add_argument(
        "--no-arrays", dest="arrays", action="store_false", help="do not wait for the arrays of the edges"
    )
    given = parser.parse_args()
    for name, (jobs, of_component) in GRAPHS.items():
        if not given.only or given.only in name:
            with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
                _run(name, jobs, of_component, Path(directory), given.store, given.seconds, given.arrays)


def _run(
    name: str, jobs: int, of_component: int, directory: Path, url: str | None, seconds: float, arrays: bool
) -> None:
    store = url or sqlite_url(directory / "store.db")
    engine = open_store(store)
    migrate(engine)
    load(engine, World(statements=tuple(layered_jobs(jobs, of_component))))
    with writing(engine) as connection:
        connection.execute(delete(change_version))
        connection.execute(insert(change_version), {"number": 1, "stamp": time.time_ns()})
    rng = random.Random(2)

    def target() -> str:
        place = rng.randrange(jobs)
        job = JobName("airflow", f"team_{place // of_component}.job_{place % of_component}")
        return f"/api/v1/lineage?{urlencode({'nodeId': str(job), 'depth': 20})}"

    with serving(directory, store) as (port, process):
        if arrays:
            wait_for_arrays(directory, process)
        before = process.cpu_times()
        took = measure(port, target, ASKED, seconds)
        after = process.cpu_times()
        cpu = 1_000 * (after.user + after.system - before.user - before.system) / len(took)
        sys.stdout.write(timing_line(name, took, cpu))
        sys.stdout.flush()
    engine.dispose()


if __name__ == "__main__":
    main()
