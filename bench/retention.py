"""Retention of a large store: what it takes to forget nine tenths of it, and how small it is then.

`python -m bench.retention [--events N] [--store URL]`: a million events of a thousand daily jobs into SQLite, or into
the store at the URL; what is in that one already is taken as it is.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine, func, select

from bench.workloads.logs import JOBS, fill
from whence.derive.pipeline import run_stream
from whence.derive.spark.session import open_session
from whence.govern.retention import apply_plan, open_plan
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.connection.vacuum import measure_store, shrink_store
from whence.store.ingest.retention_summary import RetentionHorizon
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import edge, event
from whence.store.status.overview import read_overview

Result = TypeVar("Result")


def measure(events: int, jobs: int, engine: Engine, base: Path) -> None:
    """Fill the store if it is empty, forget nine tenths of its days, and say what that took."""
    if not read_overview(engine).ledger.received:
        fill(base / "log", events, jobs=jobs)
        session = open_session()
        query = run_stream(session, SegmentLog(base / "log"), engine, base / "checkpoint")
        timed("derived", query.catch_up)
        query.stop()
        session.stop()
    horizon = nine_tenths(engine)
    before, received, current = bytes_of(engine), read_overview(engine).ledger, current_graph(engine)
    with open_plan(engine, horizon) as (plan, _):
        pass
    rows = timed("planned and applied", lambda: apply_plan(engine, horizon, plan))
    timed("shrunk", lambda: shrink_store(engine))
    after = bytes_of(engine)
    with open_plan(engine, horizon) as (left, _):
        assert not sum(left.rows.values()), left
    assert current_graph(engine) == current, "the current graph has changed"
    assert read_overview(engine).ledger == received
    sizes = f"{before / 1e6:,.0f} MB are {after / 1e6:,.0f} MB: down by {1 - after / before:.0%}"
    sys.stdout.write(f"retention  {received.received:,} events, {sum(rows.values()):,} rows deleted; {sizes}\n")


def nine_tenths(engine: Engine) -> RetentionHorizon:
    """Behind which nine tenths of the time lie that the store's events span; of lineage, half."""
    with reading(engine) as connection:
        first, last = connection.execute(select(func.min(event.c.time), func.max(event.c.time))).one()
    return RetentionHorizon(runs=first + (last - first) * 9 // 10, keep=1, history=first + (last - first) // 2)


def current_graph(engine: Engine) -> str:
    """A digest of the edges that hold now."""
    digest = sha256()
    with reading(engine) as connection:
        for row in connection.execute(select(edge).order_by(*edge.primary_key.columns)):
            digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def timed(what: str, work: Callable[[], Result]) -> Result:
    """Do it, and say how long it took."""
    began = time.perf_counter()
    result = work()
    sys.stdout.write(f"retention  {what} in {time.perf_counter() - began:,.1f} s\n")
    sys.stdout.flush()
    return result


def bytes_of(engine: Engine) -> int:
    """The store's size."""
    with reading(engine) as connection:
        return measure_store(connection)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.retention", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--store", help="a store, empty or not; SQLite in a temporary directory if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        engine = open_store(given.store or sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        measure(given.events, given.jobs, engine, Path(directory))
        engine.dispose()


if __name__ == "__main__":
    main()
