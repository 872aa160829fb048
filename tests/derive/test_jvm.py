"""Starting Spark's JVM: one that cannot be reached is given up and killed, whatever it does."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from whence.capture.java import java_home
from whence.derive.spark.session import is_submitted

LAUNCH = """
import resource, sys, tempfile
from pyspark import SparkConf
from whence.derive.spark.jvm import JvmLimits, launch_jvm
from whence.errors import SparkStartError

size, seconds = int(sys.argv[1]), float(sys.argv[2])
tempfile.gettempdir()  # it writes, to find a place where it can
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
try:
    gateway = launch_jvm(SparkConf(loadDefaults=False), JvmLimits(seconds))
except SparkStartError as error:
    print(error)
else:
    print("jvm", gateway.proc.pid, gateway.jvm.System.getProperty("java.version"), flush=True)
    sys.stdin.read()
"""
UNLIMITED = "-1"


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of a process that starts a JVM; all that it starts can be found by it."""
    assert not is_submitted()
    yield os.environ | {"JAVA_HOME": str(java_home()), "WHENCE_TEST": str(tmp_path)}
    assert _carrying(f"WHENCE_TEST={tmp_path}") == []


def _carrying(variable: str) -> list[int]:
    """The processes with this in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            is_one = entry.name.isdecimal() and variable.encode() in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [int(entry.name)] if is_one else []
    return found


def test_a_jvm_that_cannot_write_where_it_is_reached_is_killed(environment: dict[str, str]) -> None:
    """On a full disk its main thread dies, and the process lives: nobody waits for it until its time is over."""
    command = [sys.executable, "-c", LAUNCH, "0", "100000"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "cannot write its port" in done.stdout
    assert "File too large" in done.stdout


def test_a_jvm_that_takes_too_long_is_killed(environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", LAUNCH, UNLIMITED, "0.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "could not be reached within 0.1 s" in done.stdout


def test_a_jvm_that_ends_is_an_error_whatever_its_exit_code(environment: dict[str, str]) -> None:
    submit = {"PYSPARK_SUBMIT_ARGS": "--version"}
    command = [sys.executable, "-c", LAUNCH, UNLIMITED, "60"]
    done = subprocess.run(command, env=environment | submit, capture_output=True, text=True, check=True)
    assert "ended with exit code 0 before it could be reached" in done.stdout


def test_a_jvm_ends_with_a_driver_that_is_killed(environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", LAUNCH, UNLIMITED, "120"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        word, pid, version = driver.stdout.readline().split()
        assert (word, int(version.split(".")[0]) >= 17) == ("jvm", True)
        handle = os.pidfd_open(int(pid))
        driver.send_signal(signal.SIGKILL)
        assert select.select([handle], [], [], 20)[0]
        os.close(handle)
