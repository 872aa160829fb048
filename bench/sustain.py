"""Collector and pipeline together, as `whence up` runs them: `python -m bench.sustain`. As many events as it takes for
a while, until all of them are queryable; the memory; then a burst of 1,000 events, until the last of them is queryable.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvloop
from sqlalchemy import Engine

from bench.accept import Load, drive
from bench.measures.process_tree import taking
from bench.serve import memory_of
from bench.workloads.events import bodies
from whence.cli.process.serve import OPEN, plan, running
from whence.cli.settings import store_url
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, read_progress

BURST, BURST_CONNECTIONS = 1_000, 8
CONNECTIONS = 32
LOOK_SECONDS = 0.004
MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Events sent, and seconds from the first sent until the last was acknowledged, and until all are queryable."""

    events: int
    acknowledged: float
    queryable: float


@dataclass(frozen=True, slots=True)
class Served:
    """A running `whence up`: its port, data directory and store; and the events to send."""

    port: int
    directory: Path
    engine: Engine
    events: Iterator[bytes]

    def send(self, *, connections: int, seconds: float = 1e9, most: int = sys.maxsize) -> Sent:
        """Send from so many connections for so long, or so many events, and wait until all are queryable."""
        began = time.perf_counter()
        load = Load("/api/v1/lineage", self.events, began, began + seconds, most)
        uvloop.run(drive(self.port, connections, load))
        acknowledged = time.perf_counter() - began
        self._wait()
        return Sent(events=len(load.latencies), acknowledged=acknowledged, queryable=time.perf_counter() - began)

    def _wait(self) -> None:
        ends = {lane.name: lane.end.as_int for lane in SegmentLog(self.directory / "log").list_lanes()}
        while any(read_progress(self.engine).get(name, 0) < end for name, end in ends.items()):
            time.sleep(LOOK_SECONDS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.sustain", description=__doc__)
    parser.add_argument("--store", help="a store's URL; SQLite if not given")
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as scratch:
        directory = Path(scratch)
        store = given.store or store_url(directory)
        with running(plan(directory, store, port=0, guard=OPEN)) as url:
            served = Served(int(url.rpartition(":")[2]), directory, open_store(store), bodies(days=1_000_000))
            root = json.loads((directory / "run" / "whence.json").read_text())["pid"]
            served.send(connections=BURST_CONNECTIONS, most=BURST)  # warms all processes
            with taking(root) as taken:
                sent = served.send(connections=CONNECTIONS, seconds=given.seconds)
            after = memory_of(root)
            burst = served.send(connections=BURST_CONNECTIONS, most=BURST)
            served.engine.dispose()
    sys.stdout.write(
        f"together   {sent.events / sent.queryable:,.0f} events/s accepted and queryable, of {sent.events:,}: "
        f"accepted at {sent.events / sent.acknowledged:,.0f}/s, all queryable "
        f"{sent.queryable - sent.acknowledged:.1f} s after the last; "
        f"{taken.cpu / sent.events * 1e6:,.0f} µs of CPU an event\n"
        f"memory     {taken.peak_memory / MIB:,.0f} MiB at most, {after / MIB:,.0f} MiB after it, all processes\n"
        f"burst      {burst.events:,} events queryable {burst.queryable:.2f} s after the first was sent, "
        f"acknowledged after {burst.acknowledged:.2f} s\n"
    )


if __name__ == "__main__":
    main()
