"""How the pipeline scales: `make bench-scaling`. CPU of an event, stage by stage, with 1, 2 and 4 executors.

Executors are processes that merge ranges of one log into one store, as Spark's Python workers do; after each
micro-batch the driver, this process, settles. Everything is CPU time, so the machine need not have a core for each.
From it `Costs.rate` computes where more cores do not help any more: those rates are not measured.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import psutil
from sqlalchemy import Connection, Engine, event, text

from bench.derive import fill
from bench.derive import measure as derive_with_spark
from bench.million import databases
from bench.scaling.model import Costs
from bench.workloads.events import bodies
from whence.derive.sources.segments import PARTITION_BYTES
from whence.derive.writing.merge import merge_records
from whence.log import Position
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import plan_ranges, read_records
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.connection.sqlite import WRITING
from whence.store.ingest.recompute import recompute
from whence.store.migrations.migrate import migrate

EXECUTORS = (1, 2, 4)
RANGES = 4
"""Ranges of a micro-batch: as many as the stream takes at a time (64 MiB)."""
WARM = 1
"""Micro-batches before what is measured."""
CORES = (1, 2, 4, 8, 16, 64)


class Spent(NamedTuple):
    """CPU seconds of one range, and its records."""

    records: int
    cpu: float
    writing: float
    """Of it, between the begin of a writing transaction, when it has its lock, and its end."""


@dataclass(frozen=True, slots=True)
class Batch:
    """CPU seconds of one micro-batch."""

    spent: Sequence[Spent]
    settle: float
    server_merge: float
    server_settle: float


@dataclass(slots=True)
class Writing:
    """CPU seconds in the writing transactions of one engine."""

    seconds: float = 0
    _since: float | None = None

    def begin(self, connection: Connection) -> None:
        """Note that a transaction has begun."""
        if connection.get_execution_options().get(WRITING):
            self._since = time.process_time()

    def end(self, *_: object) -> None:
        """Note that a connection is given back: its transaction is over."""
        if self._since is not None:
            self.seconds += time.process_time() - self._since
            self._since = None


@cache
def opened(url: str) -> tuple[Engine, Writing]:
    """The engine of this process."""
    engine, watch = open_store(url), Writing()
    event.listen(engine, "begin", watch.begin)
    event.listen(engine, "checkin", watch.end)
    return engine, watch


def merge_range(url: str, log: Path, since: Position, until: Position) -> Spent:
    """What an executor does with a range."""
    engine, watch = opened(url)
    before, began = watch.seconds, time.process_time()
    records = list(read_records(log, since, until))
    merge_records(engine, records)
    return Spent(len(records), time.process_time() - began, watch.seconds - before)


def server_cpu(engine: Engine) -> dict[int, float]:
    """CPU seconds so far of each process of a store's PostgreSQL, which is on this machine; of SQLite there are
    none.
    """
    if engine.dialect.name == "sqlite":
        return {}
    with engine.connect() as connection:
        backend = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    main = psutil.Process(backend).parent()
    assert main is not None
    spent = {}
    for one in (main, *main.children()):
        with suppress(psutil.NoSuchProcess):
            spent[one.pid] = float(sum(one.cpu_times()[:2]))
    return spent


def difference(before: dict[int, float], after: dict[int, float]) -> float:
    """What the processes spent that were there before."""
    return sum(after[pid] - spent for pid, spent in before.items() if pid in after)


def measure(url: str, log: Path, executors: int) -> Costs:
    """Merge a log with so many executors, in micro-batches of `RANGES`."""
    engine, _ = opened(url)
    migrate(engine)
    (lane,) = SegmentLog(log).list_lanes()
    ranges = list(plan_ranges(log, lane.start, lane.end, PARTITION_BYTES))
    measured = []
    with ExitStack() as stack:
        context = multiprocessing.get_context("spawn")
        pools = [stack.enter_context(ProcessPoolExecutor(1, context)) for _ in range(executors)]
        for at in range(0, len(ranges), RANGES):
            some = ranges[at : at + RANGES]
            begun = server_cpu(engine)
            tasks = [pools[place % executors].submit(merge_range, url, log, *one) for place, one in enumerate(some)]
            spent = [task.result() for task in tasks]
            merged, began = server_cpu(engine), time.process_time()
            recompute(engine, {"log": some[-1][1].as_int})
            settle = time.process_time() - began
            measured.append(Batch(spent, settle, difference(begun, merged), difference(merged, server_cpu(engine))))
    return costs_of(measured[WARM:], has_one_writer=engine.dialect.name == "sqlite")


def costs_of(batches: Sequence[Batch], *, has_one_writer: bool) -> Costs:
    """The means of micro-batches, an event."""
    spent = [one for batch in batches for one in batch.spent]
    records = sum(one.records for one in spent)
    return Costs(
        read=sum(one.cpu - one.writing for one in spent) / records,
        write=sum(one.writing for one in spent) / records,
        settle=sum(one.settle for one in batches) / records,
        server_merge=sum(one.server_merge for one in batches) / records,
        server_settle=sum(one.server_settle for one in batches) / records,
        has_one_writer=has_one_writer,
    )


class Spark(NamedTuple):
    """CPU seconds an event that Spark itself takes."""

    executors: float = 0
    driver: float = 0


def spark_itself(sqlite: Costs, spark: dict[str, float]) -> Spark:
    """What its processes took in a run of the stream on SQLite, less these stages."""
    executors = spark["workers"] + spark["jvm"]
    return Spark(max(0.0, executors - sqlite.read - sqlite.write), max(0.0, spark["driver"] - sqlite.settle))


def table(costs: dict[int, Costs]) -> str:
    """CPU an event by stage, one line for each number of executors."""
    lines = ["executors    read   write  settle  server: merge  settle     sum"]
    for executors, one in costs.items():
        stages = (one.read, one.write, one.settle, one.server_merge, one.server_settle, one.total)
        read, write, settle, merge_there, settle_there, total = (1e6 * seconds for seconds in stages)
        lines.append(
            f"{executors:9} {read:7.0f} {write:7.0f} {settle:7.0f} {merge_there:14.0f} {settle_there:7.0f} {total:7.0f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, compute, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling.stages", description=__doc__)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--no-spark", dest="spark", action="store_false", help="do not run the stream itself")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        base = Path(directory)
        fill(SegmentLog(base / "log"), islice(bodies(seed=1, jobs=200, days=400), given.events))
        spark = derive_with_spark().cpu_per_event if given.spark else {}
        with databases(base / "postgres") as database:
            urls = {
                "SQLite": [sqlite_url(base / f"{number}.db") for number in EXECUTORS],
                "PostgreSQL": [database() for _ in EXECUTORS],
            }
            measured = {store: measure_all(some, base / "log") for store, some in urls.items()}
    own = spark_itself(measured["SQLite"][EXECUTORS[-1]], spark) if spark else Spark()
    for store, costs in measured.items():
        report(store, costs, own)


def measure_all(urls: Sequence[str], log: Path) -> dict[int, Costs]:
    """With each number of executors, each in an empty store of its own."""
    return {number: measure(url, log, number) for number, url in zip(EXECUTORS, urls, strict=True)}


def report(store: str, costs: dict[int, Costs], spark: Spark) -> None:
    """Print what was measured, and what follows for more cores."""
    sys.stdout.write(f"{store}: µs of CPU an event\n{table(costs)}\n")
    most = replace(costs[EXECUTORS[-1]], spark_shared=spark.executors, spark_driver=spark.driver)
    sys.stdout.write(
        f"Spark itself: {1e6 * spark.executors:.0f} in executors, {1e6 * spark.driver:.0f} in the driver\n"
    )
    rates = ", ".join(f"{cores} cores {most.rate(cores):,.0f}" for cores in CORES)
    sys.stdout.write(f"computed, events/s: {rates}; never more than {most.limit:,.0f}\n")


if __name__ == "__main__":
    main()
