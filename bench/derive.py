"""Events per second through the pipeline: records of the log to settled rows in the store, by the stream, on both
cores.
"""

import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.workloads.events import bodies
from whence.derive.pipeline import run_stream
from whence.derive.spark.session import open_session
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentWriter
from whence.openlineage.accept import accept
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate

WARM, MEASURED = 3_000, 30_000


@dataclass(frozen=True, slots=True)
class Derived:
    """What one run of the pipeline over a full log took."""

    events: int
    mean_bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds


def fill(log: Path, events: Iterable[bytes]) -> int:
    """Append events to a log as the collector would; their bytes."""
    writer, size = SegmentWriter(log), 0
    source = iter(events)
    while some := list(islice(source, 500)):
        taken = [accept(body) for body in some]
        drafts = [
            Draft(kind=Kind.EVENT, key=bytes.fromhex(one.key), received_at=0, payload=one.payload) for one in taken
        ]
        writer.append(drafts)
        size += sum(len(one.payload) for one in taken)
    writer.close()
    return size


def measure(store_url: str | None = None) -> Derived:
    """Derive a warm-up log, then time another one into a store (SQLite unless given)."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        base = Path(directory)
        source = bodies(seed=1, jobs=200, days=400)
        fill(base / "warm", islice(source, WARM))
        size = fill(base / "log", islice(source, MEASURED))
        session = open_session()
        for name in ("warm", "log"):
            engine = open_store(store_url if store_url and name == "log" else sqlite_url(base / f"{name}.db"))
            migrate(engine)
            started = time.perf_counter()
            query = run_stream(session, SegmentLog(base / name), engine, base / f"checkpoint-{name}")
            query.processAllAvailable()
            seconds = time.perf_counter() - started
            query.stop()
            engine.dispose()
        session.stop()
        return Derived(MEASURED, size // MEASURED, seconds)


def main() -> None:
    """Measure and print."""
    derived = measure()
    sys.stdout.write(f"derived    {derived.rate:8.0f} events/s of {derived.mean_bytes} bytes, log to settled store\n")


if __name__ == "__main__":
    main()
