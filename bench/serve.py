"""`whence up` as a user has it: seconds until ready, event → queryable at a steady rate, and the memory and CPU of all
its processes.
"""

import argparse
import http.client
import json
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.measures.process_tree import taking
from bench.workloads.events import bodies
from whence.cli.process.serve import OPEN, plan, running
from whence.cli.settings import store_url
from whence.log import Position
from whence.log.segments.log import LANE
from whence.store.connection.engine import open_store, read_progress

RATE, SECONDS, WARM = 50, 30, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What one `whence up` did. Latencies in seconds, sorted; memory in bytes (proportional set size); cores
    busy at the steady rate, on average.
    """

    ready: float
    latencies: tuple[float, ...]
    peak_memory: int
    cores: float

    def percentile(self, share: float) -> float:
        """A latency in milliseconds."""
        return 1_000 * self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


class Watch(threading.Thread):
    """Notes when each posted event is in the tables, asking the store itself; and the memory in use meanwhile."""

    def __init__(self, url: str, root: int) -> None:
        super().__init__(daemon=True)
        self._engine, self._root = open_store(url), root
        self._posted: deque[tuple[int, float]] = deque()
        self._done = threading.Event()
        self.latencies: list[float] = []
        self.peak_memory = 0

    def posted(self, position: int, at: float) -> None:
        """An event was sent at `at` and is at `position`."""
        self._posted.append((position, at))

    def finish(self) -> None:
        """Wait until all posted events are seen."""
        self._done.set()
        self.join()
        self._engine.dispose()

    def run(self) -> None:
        """Ask every few milliseconds: this is the measurement's resolution."""
        asked = 0
        while self._posted or not self._done.is_set():
            reached, now = read_progress(self._engine).get(LANE, 0), time.perf_counter()
            while self._posted and self._posted[0][0] < reached:
                self.latencies.append(now - self._posted.popleft()[1])
            if asked % 400 == 0:
                self.peak_memory = max(self.peak_memory, memory_of(self._root))
            asked += 1
            self._done.wait(0.004)


def memory_of(root: int) -> int:
    """Bytes that a process and all below it hold, shared pages divided among their holders (PSS)."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    todo, total = [root], 0
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        total += _pss(pid)
    return total


def _pss(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:")), 0)


class Poster:
    """One kept connection to the collector."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"))

    def post(self, body: bytes) -> int:
        """The position at which the event is durable."""
        self._connection.request("POST", "/api/v1/lineage", body, {"Content-Type": "application/json"})
        answer = json.loads(self._connection.getresponse().read())
        return Position.parse(answer["position"]).as_int


def measure(store: str | None = None, rate: int = RATE, seconds: float = SECONDS) -> Served:
    """Start, warm up, then post at a steady rate from one connection."""
    events = list(islice(bodies(seed=2, jobs=200, days=400), WARM + int(rate * seconds)))
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        target = store or store_url(Path(directory))
        began = time.perf_counter()
        with running(plan(Path(directory), target, port=0, guard=OPEN)) as url:
            ready = time.perf_counter() - began
            root = json.loads((Path(directory) / "run" / "whence.json").read_text())["pid"]
            _warm(url, target, root, events[:WARM])
            watch = Watch(target, root)
            watch.start()
            started = time.perf_counter()
            with taking(root) as taken:
                _post_steadily(Poster(url), watch, events[WARM:], rate)
                watch.finish()
            cores = taken.cpu / (time.perf_counter() - started)
    latencies = tuple(sorted(watch.latencies))
    return Served(ready=ready, latencies=latencies, peak_memory=watch.peak_memory, cores=cores)


def _warm(url: str, target: str, root: int, events: list[bytes]) -> None:
    watch, poster = Watch(target, root), Poster(url)
    watch.start()
    for body in events:
        watch.posted(poster.post(body), time.perf_counter())
    watch.finish()


def _post_steadily(poster: Poster, watch: Watch, events: list[bytes], rate: int) -> None:
    start = time.perf_counter()
    for number, body in enumerate(events):
        time.sleep(max(0.0, start + number / rate - time.perf_counter()))
        sent = time.perf_counter()
        watch.posted(poster.post(body), sent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.serve", description=__doc__)
    parser.add_argument("--store", help="a store's URL; SQLite if not given")
    parser.add_argument("--rate", type=int, default=RATE)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    served = measure(given.store, given.rate, given.seconds)
    latencies = ", ".join(
        f"p{share:.0%}".rstrip("%") + f" {served.percentile(share):.0f} ms" for share in (0.5, 0.95, 0.99)
    )
    sys.stdout.write(
        f"ready      {served.ready:.1f} s after `whence up`\n"
        f"queryable  {latencies} after the event was sent, at {given.rate} events/s\n"
        f"memory     {served.peak_memory / 2**20:,.0f} MiB at most, all processes\n"
        f"CPU        {served.cores:.2f} cores at {given.rate} events/s, all processes\n"
    )


if __name__ == "__main__":
    main()
