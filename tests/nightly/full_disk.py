"""`whence up` on a disk that becomes full: nothing acknowledged is lost, and it comes back by itself.

`make nightly-faults` runs it as root of a user namespace of its own (`unshare -rm`), where it may mount a small tmpfs.
"""

import errno
import http.client
import io
import json
import logging
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from api.test_collect import event
from chaos.processes import marked, state_of
from whence.cli.serve import OPEN, plan, running
from whence.store.engine import open_store, read_progress, sqlite_url
from whence.store.ledger import every_receipt

logger = logging.getLogger(__name__)

DISK_BYTES = 128 << 20
PATIENCE_SECONDS = 300
LOOK_SECONDS = 0.2


class Served:
    """A running Whence on the small disk, and what it acknowledged."""

    def __init__(self, data: Path, url: str) -> None:
        self.data, self.keys = data, list[str]()
        self._port = int(url.rpartition(":")[2])

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body).encode())
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def post(self, size: int = 2_000) -> int:
        """The status of one event more; 0 if there was no answer."""
        body = event(run={"runId": str(uuid.uuid4())}, producer="https://example.org/" + "x" * size)
        try:
            status, answer = self.ask("POST", "/api/v1/lineage", body)
        except (OSError, http.client.HTTPException):
            return 0
        self.keys += [answer["key"]] if status == 201 else []
        return status

    def is_well(self) -> bool:
        """Whether all stations work, and the store has all that was acknowledged."""
        with suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/health/ready")[0] == 200 and self.lacking() == set()
        return False

    def lacking(self) -> set[str]:
        engine = open_store(sqlite_url(self.data / "store.db"))
        found = (
            {one.key for one in every_receipt(engine) if one.outcome == "applied"} if read_progress(engine) else set()
        )
        engine.dispose()
        return set(self.keys) - found


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of its own, 128 MiB."""
    directory = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(directory)], check=True)
    yield directory
    subprocess.run(["umount", "--lazy", str(directory)], check=True)


@pytest.fixture(scope="module")
def served(disk: Path) -> Iterator[Served]:
    data = disk / "data"
    with running(plan(data, sqlite_url(data / "store.db"), port=0, guard=OPEN)) as url:
        one = Served(data, url)
        until(one.is_well)
        yield one
    assert marked(data) == {}


def until(is_so: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> float:
    """Wait until something is so; how long that took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, "nothing happens"
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


def fill(disk: Path) -> None:
    """Leave no byte free."""
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            write_until_full(file, size)


def write_until_full(file: io.FileIO, size: int) -> None:
    try:
        while file.write(bytes(size)) == size:
            pass
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise


def kill(served: Served, name: str) -> None:
    pid = state_of(served.data)[name]["pid"]
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def fill_then_kill(served: Served, disk: Path) -> None:
    fill(disk)
    kill(served, "pipeline")
    kill(served, "api")


def fill_while_spark_starts(served: Served, disk: Path) -> None:
    before = state_of(served.data)["pipeline"]["pid"]
    kill(served, "pipeline")
    until(lambda: before != state_of(served.data)["pipeline"]["pid"] and "starts Spark" in detail(served))
    fill(disk)


def fill_and_go_on(served: Served, disk: Path) -> None:
    fill(disk)


def detail(served: Served) -> str:
    return str(state_of(served.data)["pipeline"]["detail"])


@pytest.mark.parametrize("fault", [fill_then_kill, fill_while_spark_starts, fill_and_go_on])
def test_it_comes_back_when_there_is_space_again(
    served: Served, disk: Path, fault: Callable[[Served, Path], None], pytestconfig: pytest.Config
) -> None:
    for _ in range(100):
        assert served.post() == 201
    fault(served, disk)
    until(lambda: served.post(size=50_000) == 503)
    for _ in range(20):
        served.post()
    until(lambda: served.ask("GET", "/health/live")[0] == 200)
    assert served.ask("GET", "/health/ready")[0] == 503
    (disk / "filler").unlink()
    took = until(served.is_well)
    logger.info("%s: well %.1f s after there was space again; %s acknowledged", fault.__name__, took, len(served.keys))
    assert took <= pytestconfig.getoption("--back")
    assert served.ask("GET", "/api/v2/status")[1]["missing"] == 0
