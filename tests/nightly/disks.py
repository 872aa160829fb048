"""Small disks that can be filled to the last byte, and `whence up` on them."""

import errno
import http.client
import io
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.collector.test_collect import event
from chaos.processes import state_of
from whence.cli.process.serve import Guard, plan, running
from whence.govern.api_keys import create_key
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import open_store, read_progress, sqlite_url
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant
from whence.store.status.ledger import read_all_receipts

PATIENCE_SECONDS = 300
LOOK_SECONDS = 0.2

MIB = {"run": 96, "log": 64, "store": 96, "security": 8}
"""Places of a Whence, and their disks where each has one of its own. In `run` are the state file, the children's logs,
and Spark's scratch directory with the file by which the JVM says where it listens.
"""


@dataclass(frozen=True, slots=True)
class Disks:
    """The mounted directory of each place."""

    of: dict[str, Path]

    def fill(self, place: str) -> None:
        """Leave no byte free."""
        with (self.of[place] / "filler").open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                _write_until_full(file, size)

    def free(self, place: str) -> None:
        """Give all of it back."""
        (self.of[place] / "filler").unlink()


def _write_until_full(file: io.FileIO, size: int) -> None:
    try:
        while file.write(bytes(size)) == size:
            pass
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise


@contextmanager
def mounted(data: Path, *, apart: bool) -> Iterator[Disks]:
    """One disk for all, or one for each place."""
    with ExitStack() as ending:
        if not apart:
            _mount(ending, data, sum(MIB.values()))
        for place, size in MIB.items():
            (data / place).mkdir(parents=True)
            if apart:
                _mount(ending, data / place, size)
        yield Disks({place: data / place if apart else data for place in MIB})


def _mount(ending: ExitStack, directory: Path, size: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", str(directory)], check=True)
    ending.callback(subprocess.run, ["umount", "--lazy", str(directory)], check=True)


@dataclass(slots=True)
class Served:
    """A running Whence, and what it acknowledged."""

    data: Path
    port: int
    headers: dict[str, str]
    keys: list[str] = field(default_factory=list)
    acts: int = 0
    """Changes by hand that were answered with success."""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the answer; 0 if there was none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body).encode(), self.headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def post(self, size: int = 2_000) -> int:
        """Send one event more."""
        body = event(run={"runId": str(uuid.uuid4())}, producer="https://example.org/" + "x" * size)
        status, answer = self.ask("POST", "/api/v1/lineage", body)
        self.keys += [answer["key"]] if status == 201 else []
        return status

    def act(self) -> int:
        """State a fact by hand."""
        job = event()["job"]
        status, _ = self.ask("PUT", f"/api/v2/nodes/job%3A{job['namespace']}%3A{job['name']}/tags/checked")
        self.acts += status in (200, 202)
        return status

    def is_ready(self) -> bool:
        """Whether all stations work."""
        return self.ask("GET", "/health/ready")[0] == 200

    def is_well(self) -> bool:
        """Whether they do, and the store has all that was acknowledged."""
        return self.is_ready() and self.lacking() == set()

    def lacking(self) -> set[str]:
        """What was acknowledged and is not in the store."""
        engine = open_store(sqlite_url(self.data / "store" / "store.db"))
        found = (
            {one.key for one in read_all_receipts(engine) if one.outcome == "applied"}
            if read_progress(engine)
            else set()
        )
        engine.dispose()
        return set(self.keys) - found

    @property
    def supervisor(self) -> int:
        """Its process."""
        return int(state_of(self.data)["pid"])

    @property
    def pipeline(self) -> dict[str, Any]:
        """What the supervisor said last of the pipeline."""
        return dict(state_of(self.data)["pipeline"])

    def kill(self, name: str) -> None:
        """`kill -9` of a child."""
        with suppress(ProcessLookupError):
            os.kill(state_of(self.data)[name]["pid"], signal.SIGKILL)


@contextmanager
def serving(data: Path) -> Iterator[Served]:
    """Whence with keys, until it is well."""
    store, security = (sqlite_url(data / place / f"{place}.db") for place in ("store", "security"))
    engine = open_security(security)
    with write_security(engine) as connection:
        key = create_key(connection, "admin", SCOPES, time.time_ns() // 1_000)
        add_grant(connection, "key:admin", Grant(Role.ADMIN, "*"))
    engine.dispose()
    with running(plan(data, store, port=0, guard=Guard(security=security))) as url:
        served = Served(data, int(url.rpartition(":")[2]), {"Authorization": f"Bearer {key.text}"})
        until(served.is_well)
        yield served


def until(is_so: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> float:
    """Wait until something is so; how long that took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, "nothing happens"
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began
