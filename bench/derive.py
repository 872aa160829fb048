"""Events per second through the pipeline: records of the log to settled rows in the store, by the stream, on both
cores.
"""

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil

from bench.workloads.events import bodies
from whence.derive.pipeline import run_stream
from whence.derive.spark.jars import jars_for
from whence.derive.spark.session import open_session
from whence.log import Kind, Log
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
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
    cpu: dict[str, float]
    """Seconds of CPU by kind of process."""

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds

    @property
    def cpu_per_event(self) -> dict[str, float]:
        """Seconds of CPU an event by kind of process."""
        return {kind: spent / self.events for kind, spent in self.cpu.items()}


def fill(log: Log, events: Iterable[bytes]) -> int:
    """Append events to a log as the collector would; their bytes."""
    writer, size = log.open_writer(), 0
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
    """Derive a warm-up log of segments, then time another one into a store (SQLite unless given)."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        base = Path(directory)
        logs = [SegmentLog(base / name) for name in ("warm", "log")]
        return derive_warm(logs, [sqlite_url(base / "warm.db"), store_url or sqlite_url(base / "log.db")], base)


def derive_warm(logs: Sequence[Log], stores: Sequence[str], base: Path) -> Derived:
    """Fill two logs, and derive each into its store: the first one only warms the processes."""
    source = bodies(seed=1, jobs=200, days=400)
    sizes = [fill(log, islice(source, count)) for log, count in zip(logs, (WARM, MEASURED), strict=True)]
    session = open_session(jars=jars_for(logs[-1]))
    for number, (log, store) in enumerate(zip(logs, stores, strict=True)):
        engine = open_store(store)
        migrate(engine)
        before, started = cpu_seconds(), time.perf_counter()
        stream = run_stream(session, log, engine, base / f"checkpoint-{number}")
        stream.catch_up()
        seconds = time.perf_counter() - started
        cpu = {kind: spent - before[kind] for kind, spent in cpu_seconds().items()}
        stream.stop()
        engine.dispose()
    session.stop()
    return Derived(MEASURED, sizes[-1] // MEASURED, seconds, cpu)


def cpu_seconds() -> defaultdict[str, float]:
    """Seconds of CPU of this process and those below it, so far, by kind."""
    me = psutil.Process()
    spent = defaultdict(float, driver=sum(me.cpu_times()[:2]))
    for child in me.children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            spent[kind_of(child.cmdline())] += sum(child.cpu_times()[:2])
    return spent


def kind_of(command: list[str]) -> str:
    """What a process below the driver is."""
    if "kafka.Kafka" in command:
        return "broker"
    return "jvm" if "java" in command[0] else "workers"


def line_of(name: str, derived: Derived, what: str) -> str:
    """What a run took, as a line."""
    each = {kind: 1e6 * spent for kind, spent in derived.cpu_per_event.items()}
    kinds = ", ".join(f"{kind} {spent:.0f}" for kind, spent in each.items())
    return (
        f"{name:10} {derived.rate:8.0f} events/s of {derived.mean_bytes} bytes, {what}; "
        f"CPU {sum(each.values()):.0f} µs an event ({kinds})\n"
    )


def main() -> None:
    """Measure and print."""
    sys.stdout.write(line_of("derived", measure(), "log to settled store"))


if __name__ == "__main__":
    main()
