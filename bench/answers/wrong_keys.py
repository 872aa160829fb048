"""What right API keys wait for while others send wrong ones without a pause: `python -m bench.answers.wrong_keys`.

Two processes besides the API: one sends wrong keys over many connections, each the next when the last is refused;
this one asks with a key that is known, and with keys that were never used before. Rounds with and without the flood
take turns, so that other load on the machine meets both.
"""

import argparse
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from whence.govern.api_keys import create_key, generate_key, parse_key
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant

ROUNDS, ASKED, PAUSE_SECONDS = 6, 40, 0.05
ALLOWED_SECONDS = 0.1

FLOOD = """
import asyncio, random, sys, zlib

port, connections, ids = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]

async def flood():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        body = f"whence_{random.choice(ids)}_{random.getrandbits(192):048x}"
        key = f"{body}{zlib.crc32(body.encode()):08x}"
        said = f"Host: localhost\\r\\nAuthorization: Bearer {key}\\r\\n\\r\\n"
        writer.write(f"GET /api/v2/session HTTP/1.1\\r\\n{said}".encode())
        head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode().lower()
        assert " 401 " in head.splitlines()[0], head
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\\r\\n")[0]))

async def main():
    await asyncio.gather(*(flood() for _ in range(connections)))

print("floods", flush=True)
asyncio.run(main())
"""


def keys_of(url: str, count: int) -> Sequence[str]:
    """New keys of readers."""
    engine = open_security(url)
    with write_security(engine) as connection:
        made = [create_key(connection, f"reader{number}", SCOPES, time.time_ns() // 1_000) for number in range(count)]
        for number in range(count):
            add_grant(connection, f"key:reader{number}", Grant(Role.READER, "*"))
    engine.dispose()
    return [one.text for one in made]


@contextmanager
def serving(data: Path, security: str) -> Iterator[int]:
    """An API process that asks for keys: its port."""
    store = sqlite_url(data / "store.db")
    engine = open_store(store)
    migrate(engine)
    engine.dispose()
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    command = [sys.executable, "-m", "whence.api", "--data", str(data), "--fd", str(listening.fileno())]
    with subprocess.Popen(
        command,
        pass_fds=[listening.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"WHENCE_STORE": store, "WHENCE_SECURITY": security},
    ) as process:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("the API did not start")
        yield listening.getsockname()[1]
        process.terminate()
    listening.close()


@contextmanager
def flooded(port: int, connections: int, ids: Sequence[str]) -> Iterator[None]:
    """While this is open, wrong keys come: of ids that there are, and of one that there is not."""
    command = [sys.executable, "-c", FLOOD, str(port), str(connections), *ids, generate_key().id]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        if process.poll() is not None:
            raise RuntimeError("the flood has ended early")
        process.kill()


def ask(port: int, key: str) -> float:
    """Seconds until the answer, on a connection of its own."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/api/v2/session", headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"a right key is answered with {answer.status}")
    return time.perf_counter() - began


def measure(connections: int, rounds: int) -> dict[tuple[str, str], list[float]]:
    """Latencies in seconds, sorted, by key (known or new) and by what happens meanwhile."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        security = sqlite_url(Path(directory) / "security.db")
        known, *others = keys_of(security, 1 + 2 * rounds * ASKED)
        unused = iter(others)
        ids = [key.id for text in (known, *others[:10]) if (key := parse_key(text))]
        with serving(Path(directory), security) as port:
            ask(port, known)
            for _ in range(rounds):
                _ask_in_turn(port, known, unused, found, "alone")
                with flooded(port, connections, ids):
                    time.sleep(1)
                    _ask_in_turn(port, known, unused, found, "in the flood")
    return {what: sorted(some) for what, some in found.items()}


def _ask_in_turn(
    port: int, known: str, unused: Iterator[str], found: dict[tuple[str, str], list[float]], meanwhile: str
) -> None:
    for _ in range(ASKED):
        found["known key", meanwhile].append(ask(port, known))
        found["new key", meanwhile].append(ask(port, next(unused)))
        time.sleep(PAUSE_SECONDS)


def percentile(latencies: Sequence[float], share: float) -> float:
    """Milliseconds."""
    return 1_000 * latencies[min(len(latencies) - 1, int(len(latencies) * share))]


def main() -> int:
    """Measure and print. 1 if the flood delays by more than 100 ms, in the middle or at the 99th percentile."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.wrong_keys", description=__doc__)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    found = measure(options.connections, options.rounds)
    for (key, meanwhile), some in sorted(found.items()):
        shown = ", ".join(f"{name} {percentile(some, share):.1f}" for name, share in (("p50", 0.5), ("p99", 0.99)))
        sys.stdout.write(f"{key:10} {meanwhile:14} {shown}, worst {1_000 * some[-1]:.1f} ms of {len(some)}\n")
    sys.stdout.write(f"{options.connections} connections send wrong keys; load average {os.getloadavg()[0]:.1f}\n")
    return int(
        any(
            percentile(found[key, "in the flood"], share)
            > percentile(found[key, "alone"], share) + 1e3 * ALLOWED_SECONDS
            for key in ("known key", "new key")
            for share in (0.5, 0.99)
        )
    )


if __name__ == "__main__":
    sys.exit(main())
