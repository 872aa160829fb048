"""`whence demo` and `whence up` leave no process behind, whenever and however they are ended."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.waits import wait_until

BEGUN = "(all its data is in"
RUNNING = "Running a churn pipeline on PySpark"


class Started:
    """A command of Whence that runs, and all processes that come of it."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.data = directory / "data"
        self._variable = f"WHENCE_TEST={directory}".encode()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "whence.cli", *arguments, "--data", str(self.data), "--port", "0"],
            stdout=subprocess.PIPE,
            env=os.environ | {"WHENCE_TEST": str(directory), "PYTHONUNBUFFERED": "1"},
            text=True,
        )

    def until_printed(self, beginning: str) -> None:
        assert self.process.stdout is not None
        assert any(line.startswith(beginning) for line in self.process.stdout), f"no line begins with {beginning!r}"

    def until_jvms(self, count: int) -> None:
        """Wait until so many JVMs run."""

        def are_there() -> bool:
            return len([pid for pid in self.alive() if b"SparkSubmit" in _read(pid, "cmdline")]) >= count

        wait_until(are_there, lambda: self.process.poll() is None)

    def alive(self) -> list[int]:
        pids = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]
        return [pid for pid in pids if self._variable in _read(pid, "environ").split(b"\0")]

    def state(self) -> str:
        return json.dumps(json.loads((self.data / "run" / "whence.json").read_text()))

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        assert self.process.stdout is not None
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(60)


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def wait_until_gone(pids: list[int]) -> None:
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([handle], [], [], 30)[0], _read(pid, "cmdline")
        os.close(handle)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    made: list[Started] = []

    def make(*arguments: str) -> Started:
        made.append(Started(tmp_path, *arguments))
        return made[-1]

    yield make
    for one in made:
        left = one.alive()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        one.process.wait()
        assert not left, "processes that nobody ended"


def test_the_demo_ends_before_its_servers_are_ready(start: Callable[..., Started]) -> None:
    demo = start("demo", "--once")
    demo.until_printed(BEGUN)
    assert demo.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert demo.alive() == []


def test_the_demo_ends_while_spark_starts(start: Callable[..., Started]) -> None:
    demo = start("demo", "--once")
    demo.until_jvms(1)
    assert demo.end(signal.SIGHUP) == 128 + signal.SIGHUP
    assert demo.alive() == []


def test_the_demo_ends_while_its_own_pipeline_runs(start: Callable[..., Started]) -> None:
    demo = start("demo", "--once")
    demo.until_printed(RUNNING)
    demo.until_jvms(2)
    assert demo.end(signal.SIGINT) == 128 + signal.SIGINT
    assert demo.alive() == []


def test_all_that_runs_ends_with_an_up_that_is_killed(start: Callable[..., Started]) -> None:
    up = start("up")
    up.until_jvms(1)
    before = up.alive()
    assert len(before) >= 4
    assert up.end(signal.SIGKILL) == -signal.SIGKILL
    wait_until_gone(before)


def test_all_that_runs_ends_with_a_demo_that_is_killed(start: Callable[..., Started]) -> None:
    demo = start("demo", "--once")
    demo.until_jvms(1)
    before = demo.alive()
    assert demo.end(signal.SIGKILL) == -signal.SIGKILL
    wait_until_gone(before)
