"""How many events per second one API worker accepts durably: `python -m bench.accept`.

The load generator is this process, the server another. A connection sends its next event when the last is
acknowledged.
"""

import argparse
import asyncio
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import uvloop

from bench.workloads.events import bodies

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What was measured. Times in seconds; CPU is of the server and of this process, in cores."""

    events: int
    seconds: float
    p50: float
    p99: float
    worst: float
    server_cpu: float
    client_cpu: float
    event_bytes: int

    @property
    def per_second(self) -> float:
        """Events acknowledged per second."""
        return self.events / self.seconds

    @property
    def limit(self) -> str:
        """What keeps it from being more."""
        micros = self.server_cpu / self.per_second * 1e6
        if self.server_cpu > 0.9:
            return f"the worker's one core: {micros:.0f} µs of CPU per event"
        if self.server_cpu + self.client_cpu > 0.9 * (os.cpu_count() or 1):
            return (
                f"the machine's cores, which the load generator shares; {micros:.0f} µs of CPU per event in the worker"
            )
        return f"other load on the machine, or the disk's sync; {micros:.0f} µs of CPU per event in the worker"


def events_of_a_day() -> Iterator[bytes]:
    """Events of 200 jobs and of one day, in no order and without end, each with a run id of its own: they cost the load
    generator less than new ones.
    """
    marker, uuid_length = b'"run":{"runId":"', 36
    parts = [body.partition(marker) for body in bodies(days=1)]
    chance = random.Random(os.getpid())
    while True:
        before, _, after = chance.choice(parts)
        run = str(uuid.UUID(int=chance.getrandbits(128))).encode()
        yield b"".join((before, marker, run, after[uuid_length:]))


@dataclass(slots=True)
class Load:
    """What the connections share: the clock, the events and how many of them are left, the measured latencies; the
    bytes of all that was sent.
    """

    path: str
    events: Iterator[bytes]
    measure_from: float
    until: float
    left: int = sys.maxsize
    latencies: list[float] = field(default_factory=list)
    sent_bytes: int = 0
    sent: int = 0

    def request(self) -> bytes:
        """The next request, head and body."""
        body = next(self.events)
        self.left -= 1
        self.sent += 1
        self.sent_bytes += len(body)
        head = f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


class Connection(asyncio.Protocol):
    """One keep-alive connection that always has one event under way."""

    def __init__(self, load: Load, done: asyncio.Future[None]) -> None:
        self._load = load
        self._done = done
        self._received = b""
        self._sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            return
        now = time.perf_counter()
        if not head.startswith(b"HTTP/1.1 201"):
            self._done.set_exception(RuntimeError(self._received.decode()))
            self._transport.close()
            return
        if self._sent_at >= self._load.measure_from:
            self._load.latencies.append(now - self._sent_at)
        self._received = b""
        if now < self._load.until and self._load.left > 0:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None) if exc is None else self._done.set_exception(exc)

    def _send(self) -> None:
        self._sent_at = time.perf_counter()
        self._transport.write(self._load.request())


async def drive(port: int, connections: int, load: Load) -> None:
    """Run all connections to the end."""
    loop = asyncio.get_running_loop()
    ends = [loop.create_future() for _ in range(connections)]
    for end in ends:
        await loop.create_connection(partial(Connection, load, end), "127.0.0.1", port)
    await asyncio.gather(*ends)


@contextmanager
def server(directory: Path) -> Iterator[tuple[int, int]]:
    """An API process over an empty data directory: (port, pid)."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    command = [
        sys.executable,
        "-m",
        "whence.api",
        "--data",
        str(directory),
        "--store",
        f"sqlite:///{directory}/store.db",
        "--open",
    ]
    process = subprocess.Popen(
        [*command, "--fd", str(listening.fileno())],
        pass_fds=[listening.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("the API did not start")
        yield listening.getsockname()[1], process.pid
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
        listening.close()


def cpu_seconds(pid: int) -> float:
    """CPU time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure(
    *, seconds: float = 8, warm_up: float = 2, connections: int = 32, directory: Path | None = None
) -> Accepted:
    """Start a server over a temporary directory, load it, and say what it did."""
    with tempfile.TemporaryDirectory(dir=directory) as data, server(Path(data)) as (port, pid):
        begin = time.perf_counter()
        load = Load("/api/v1/lineage", events_of_a_day(), begin + warm_up, begin + warm_up + seconds)
        server_cpu, client_cpu, wall = cpu_seconds(pid), time.process_time(), time.perf_counter()
        uvloop.run(drive(port, connections, load))
        took = time.perf_counter() - wall
        server_cpu, client_cpu = cpu_seconds(pid) - server_cpu, time.process_time() - client_cpu
    latencies = sorted(load.latencies)
    return Accepted(
        events=len(latencies),
        seconds=seconds,
        p50=latencies[len(latencies) // 2],
        p99=latencies[len(latencies) * 99 // 100],
        worst=latencies[-1],
        server_cpu=server_cpu / took,
        client_cpu=client_cpu / took,
        event_bytes=load.sent_bytes // load.sent,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.accept", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    result = measure(seconds=options.seconds, connections=options.connections)
    sys.stdout.write(
        f"accepted   {result.per_second:8.0f} events/s of {result.event_bytes} bytes, one worker, "
        f"{options.connections} connections, each event synced to disk before its 201\n"
        f"latency    p50 {result.p50 * 1e3:.1f} ms, p99 {result.p99 * 1e3:.1f} ms, worst {result.worst * 1e3:.1f} ms\n"
        f"cores      server {result.server_cpu:.2f}, load generator {result.client_cpu:.2f} of {os.cpu_count()}\n"
        f"limit      {result.limit}\n"
    )


if __name__ == "__main__":
    main()
