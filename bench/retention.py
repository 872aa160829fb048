"""Retention of a large store: what it takes to forget nine tenths of it, and how small it is then.

`python -m bench.retention [--events N] [--store URL]`: a million events of a thousand daily jobs into SQLite, or into
the empty store at the URL.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine

from bench.derive import fill
from bench.events import bodies
from whence.derive.pipeline import run_stream
from whence.derive.session import open_session
from whence.govern.retention import DAY, apply, planning
from whence.log.segments.log import SegmentLog
from whence.store.engine import open_store, reading, sqlite_url
from whence.store.migrate import migrate
from whence.store.space import shrink, size
from whence.store.standing import read_standing
from whence.store.summary import Horizon

FIRST_DAY = 1_767_225_600_000_000
A_JOB_AND_DAY = 2.2
"""Events."""

Result = TypeVar("Result")


def measure(events: int, jobs: int, engine: Engine, base: Path) -> None:
    """Fill the store, forget nine tenths of its days, and say what that took."""
    fill(base / "log", islice(bodies(seed=1, jobs=jobs, days=10**6), events))
    session = open_session()
    query = run_stream(session, SegmentLog(base / "log"), engine, base / "checkpoint")
    timed("derived", query.processAllAvailable)
    query.stop()
    session.stop()
    days = events / A_JOB_AND_DAY / jobs
    horizon = Horizon(runs=FIRST_DAY + int(days * 0.9 * DAY), keep=1, history=FIRST_DAY + int(days * 0.5 * DAY))
    before, received = bytes_of(engine), read_standing(engine).ledger
    with planning(engine, horizon) as (plan, _):
        pass
    rows = timed("planned and applied", lambda: apply(engine, horizon, plan))
    timed("shrunk", lambda: shrink(engine))
    after = bytes_of(engine)
    assert read_standing(engine).ledger == received
    sizes = f"{before / 1e6:,.0f} MB are {after / 1e6:,.0f} MB: down by {1 - after / before:.0%}"
    sys.stdout.write(f"retention  {events:,} events, {sum(rows.values()):,} rows deleted; {sizes}\n")


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
        return size(connection)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.retention", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--store", help="an empty store; SQLite in a temporary directory if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        engine = open_store(given.store or sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        measure(given.events, given.jobs, engine, Path(directory))
        engine.dispose()


if __name__ == "__main__":
    main()
