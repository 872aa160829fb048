"""Questions over HTTP against a large graph: p50, p95 and p99 of each, on SQLite or PostgreSQL.

Sizes: S 1,000 datasets / 10,000 fields / 30,000 edges, M 100 times as many, L 1,000 times.
"""

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil
from sqlalchemy import select

from bench.workloads.stores import DAY, NOW, Estate, estate, fill, seeded
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import edge

SIZES = {"S": (10_000, 30_000), "M": (1_000_000, 3_000_000), "L": (10_000_000, 30_000_000)}
ASKED = 300
SERVE = """
import socket, sys
from pathlib import Path
from whence.api.server.serve import serve
from whence.api.settings import Settings

serve(Settings(data=Path(sys.argv[1]), store_url=sys.argv[2], open=True), socket.socket(fileno=int(sys.argv[3])))
"""

Target = Callable[[], str]
"""Draws the path of one request."""


@contextmanager
def serving(data: Path, store: str) -> Iterator[tuple[int, psutil.Process]]:
    """An API process over a store: its port, and the process."""
    listening = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-c", SERVE, str(data), store, str(listening.fileno())]
    process = subprocess.Popen(
        command, pass_fds=[listening.fileno()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield listening.getsockname()[1], psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()
        listening.close()


def wait_for_arrays(directory: Path, process: psutil.Process, seconds: float = 1_800) -> None:
    """Wait until the API has made the arrays of the edges, which it does by itself."""
    began = time.monotonic()
    file = directory / "edges.csr"
    while not file.exists() and time.monotonic() - began < seconds:
        process.status()  # raises if the process is gone
        time.sleep(0.2)
    size = file.stat().st_size / 1e6 if file.exists() else 0
    sys.stdout.write(f"arrays: {size:.0f} MB after {time.monotonic() - began:.0f} s\n")


@contextmanager
def kept_in(directory: Path | None) -> Iterator[Path]:
    """A directory that stays, or one for this run only."""
    if directory:
        directory.mkdir(parents=True, exist_ok=True)
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as made:
        yield Path(made)


def filled_in(store: str, made: Estate) -> float:
    """Fill a store that is empty: the seconds that it took."""
    engine = open_store(store)
    migrate(engine)
    with reading(engine) as connection:
        is_empty = connection.execute(select(edge.c.owner_id).limit(1)).first() is None
    began = time.perf_counter()
    if is_empty:
        fill(engine, made)
    engine.dispose()
    return time.perf_counter() - began


def questions(made: Estate, seed: int = 1) -> dict[str, Target]:
    """The questions, each of a node that it draws."""
    rng = random.Random(seed)
    graph = made.graph
    sources, counts = np.unique(graph.edges[:, 0], return_counts=True)
    hubs = sources[np.argsort(-counts)]
    hubs, columns = hubs[hubs & 3 == 0][:100], hubs[hubs & 3 == 1][:100]
    popular = graph.edges[:, 0][graph.edges[:, 0] & 3 == 0]

    def field() -> str:
        return str(made.fields[rng.randrange(len(made.fields))])

    def dataset() -> str:
        return made.name(int(popular[rng.randrange(len(popular))]))

    def asked(path: str, **parameters: object) -> str:
        return f"/api/v2/{path}?{urlencode(parameters)}"

    def path() -> str:
        edge = graph.edges[rng.randrange(graph.column_edges)]
        return asked("paths", source=made.name(int(edge[0])), target=made.name(int(edge[1])), depth=5)

    past = iso(NOW - 2 * DAY)
    return {
        "field upstream, depth 10": lambda: asked("lineage/upstream", node=field(), depth=10),
        "dataset downstream, depth 3": lambda: asked("lineage/downstream", node=dataset(), depth=3),
        "impact of any dataset": lambda: asked("impact", node=dataset(), depth=3),
        "impact of a hub": lambda: asked("impact", node=made.name(int(hubs[rng.randrange(len(hubs))]))),
        "impact of a hub's field": lambda: asked("impact", node=made.name(int(columns[rng.randrange(len(columns))]))),
        "path": path,
        "search": lambda: asked("search", q=f"mart{rng.randrange(97)}.table_{rng.randrange(len(made.datasets))}"),
        "field upstream, as of": lambda: asked("lineage/upstream", node=field(), depth=10, as_of=past),
        "changes of a field": lambda: asked("changes", node=field(), since=past),
        "changes of a dataset": lambda: asked("changes", node=dataset(), since=past),
        "diff of two days": lambda: asked("diff", before=past, after=iso(NOW)),
    }


def measure(port: int, target: Target, times: int, seconds: float) -> list[float]:
    """Milliseconds of requests, one after the other, over one connection; sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    took: list[float] = []
    until = time.perf_counter() + seconds
    while len(took) < times and (len(took) < 3 or time.perf_counter() < until):
        path = target()
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        took.append(1_000 * (time.perf_counter() - began))
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {path}: {body[:300]!r}")
    return sorted(took)


def check_diff(port: int, expected: int) -> None:
    """Ask what changed in the last two days, and compare it with what was seeded."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request(
        "GET", f"/api/v2/diff?{urlencode({'before': iso(NOW - 2 * DAY), 'after': iso(NOW), 'limit': 1})}"
    )
    counts = json.loads(connection.getresponse().read())["data"]["counts"]["edge"]
    seeded_text = (
        "as seeded" if counts == {"added": expected, "removed": 0, "changed": 0} else f"but {expected:,} were seeded"
    )
    sys.stdout.write(f"diff: {counts['added']:,} edges added, {seeded_text}\n")


def main() -> None:
    """Fill, serve, ask, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.query", description=__doc__)
    parser.add_argument("--size", choices=SIZES, default=os.environ.get("SIZE", "S"))
    parser.add_argument("--store", help="an empty store's URL; SQLite if not given")
    parser.add_argument("--keep", type=Path, help="where the store is kept, and found the next time")
    parser.add_argument("--seconds", type=float, default=30, help="for each question at most")
    parser.add_argument("--only", help="questions whose name has this text")
    parser.add_argument(
        "--no-arrays", dest="arrays", action="store_false", help="do not wait for the arrays of the edges"
    )
    given = parser.parse_args()
    with kept_in(given.keep) as directory:
        store = given.store or sqlite_url(directory / "store.db")
        made = estate(*SIZES[given.size])
        size = f"{len(made.datasets):,} datasets, {len(made.fields):,} fields, {len(made.graph.edges):,} edges"
        sys.stdout.write(f"{size}; filled in {filled_in(store, made):.0f} s; load {os.getloadavg()[0]:.1f}\n")
        with serving(directory, store) as (port, process):
            if given.arrays:
                wait_for_arrays(directory, process)
            for name, target in questions(made).items():
                if not given.only or given.only in name:
                    before = process.cpu_times()
                    took = measure(port, target, ASKED, given.seconds)
                    after = process.cpu_times()
                    cpu = 1_000 * (after.user + after.system - before.user - before.system) / len(took)
                    sys.stdout.write(timing_line(name, took, cpu))
                    sys.stdout.flush()
            check_diff(port, seeded(made))


def timing_line(name: str, took: list[float], cpu: float) -> str:
    """A line about requests: milliseconds that they took, sorted, and of CPU for each."""
    shares = [took[min(len(took) - 1, int(len(took) * share))] for share in (0.5, 0.95, 0.99)]
    times = "  ".join(f"{word} {value:8.1f}" for word, value in zip(("p50", "p95", "p99"), shares, strict=True))
    return f"{name:30} {times}  ms  (CPU {cpu:.1f} ms each)  {len(took)} asked\n"


if __name__ == "__main__":
    main()
