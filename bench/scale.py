"""How the cost of deriving grows: `make bench-scale`. A workload of 10^4, 10^5 and 10^6 events, each derived from a
full log by a process of its own.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Engine, text

from bench.measures.process_tree import taking
from bench.workloads.logs import fill
from whence.derive.archive.copy import archive_log
from whence.derive.pipeline import run_stream
from whence.derive.spark.session import open_session
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

SIZES = (10**4, 10**5, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What deriving a workload took. Seconds of wall and CPU; memory and sizes in bytes."""

    events: int
    seconds: float
    cpu: float
    peak_memory: int
    log: int
    store: int
    archive: int


def measure(events: int, log: Path, store_url: str) -> Measured:
    """Derive a full log by the stream, in local mode. The start of Spark is not counted."""
    engine = open_store(store_url)
    migrate(engine)
    session = open_session()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as scratch, taking() as taken:
        began = time.perf_counter()
        query = run_stream(session, SegmentLog(log), engine, Path(scratch) / "checkpoint")
        query.catch_up()
        seconds = time.perf_counter() - began
        query.stop()
    archived = archive_log(session, SegmentLog(log), str(log.with_name("archive")))
    session.stop()
    size = sum(path.stat().st_size for path in log.glob("*.log"))
    return Measured(
        events=events,
        seconds=seconds,
        cpu=taken.cpu,
        peak_memory=taken.peak_memory,
        log=size,
        store=store_bytes(engine),
        archive=archived.bytes,
    )


def store_bytes(engine: Engine) -> int:
    """The bytes of a store on disk, its write-ahead log folded in."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            return Path(engine.url.database or "").stat().st_size
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def exponent(measured: Sequence[Measured]) -> float:
    """The slope of log CPU over log events, by least squares: 1 is linear."""
    points = [(math.log(one.events), math.log(one.cpu)) for one in measured]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    over = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return over / sum((x - mean_x) ** 2 for x, _ in points)


def report(measured: Sequence[Measured]) -> str:
    """A line per size, then how the cost grows."""
    head = "    events  events/s  CPU s/million  peak MiB  log B/event  store B/event  archive B/event"
    lines = [
        f"{one.events:10,}  {one.events / one.seconds:8,.0f}  {one.cpu / one.events * 1e6:13,.0f}  "
        f"{one.peak_memory / 2**20:8,.0f}  {one.log / one.events:11,.0f}  {one.store / one.events:13,.0f}"
        f"  {one.archive / one.events:15,.0f}"
        for one in measured
    ]
    if len(measured) < 2:
        return "\n".join((head, *lines))
    first, last = measured[-2:]
    grown = (last.store - first.store) / (last.events - first.events)
    fit = f"CPU grows with events^{exponent(measured):.3f} (from {first.events:,} on: ^{exponent((first, last)):.3f})"
    return "\n".join((head, *lines, f"{fit}; the store by {grown:,.0f} bytes an event from {first.events:,} on"))


def _measured_apart(events: int, log: Path, store_url: str) -> Measured:
    """In a process of its own, so that none is warm from the one before."""
    command = [sys.executable, "-m", "bench.scale", "--one", str(events), "--log", str(log), "--store", store_url]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure all sizes and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        sys.stdout.write(json.dumps(asdict(measure(given.one, given.log, given.store))) + "\n")
        return
    measured = []
    for events in given.sizes:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as base:
            fill(Path(base) / "log", events)
            measured.append(_measured_apart(events, Path(base) / "log", sqlite_url(Path(base) / "store.db")))
            sys.stdout.write(report(measured[-1:]) + "\n")
            sys.stdout.flush()
    sys.stdout.write("\n" + report(measured) + "\n")


if __name__ == "__main__":
    main()
