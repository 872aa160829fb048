"""The JVM of a Spark driver. It is started here, because pyspark waits forever for a JVM that cannot write its port."""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from struct import Struct
from typing import Any

from pyspark import SparkConf
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

from whence.death_signal import with_parent
from whence.derive.spark.prepared_jvm import MAIN, PreparedJvm
from whence.errors import SparkStartError

_LOOK_SECONDS, _LOOKS_A_PROBE = 0.05, 20
_PROBE_BYTES = 4_096
_ADDRESS = Struct(">ii")
"""The port of the gateway, and the length of the secret that follows."""
_connect_to_gateway: Callable[[], Any] = launch_gateway


@dataclass(frozen=True, slots=True)
class JvmLimits:
    """How long the JVM may take to answer, and the signal that it gets when this process ends."""

    seconds: float = 240.0
    death_signal: signal.Signals = signal.SIGTERM
    """With SIGKILL, the JVM does not delete its temporary files."""


UNSUPERVISED = JvmLimits()


def launch_jvm(conf: SparkConf, limits: JvmLimits = UNSUPERVISED, prepared: PreparedJvm | None = None) -> Any:
    """Start a JVM for a Spark driver, by Spark's launcher or as prepared, and connect to it; its process is the
    gateway's `proc`.

    Raises SparkStartError if it ends or does not answer in time; then it is killed.
    """
    with tempfile.TemporaryDirectory(prefix="whence-jvm-", ignore_cleanup_errors=True) as directory:
        address_file = Path(directory) / "gateway"
        process = _start(_command(conf, prepared), address_file, limits.death_signal)
        try:
            port, secret = _wait_for_address(process, address_file, limits.seconds)
        except BaseException:
            process.kill()
            process.wait()
            raise
    with _environment(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret):
        gateway = _connect_to_gateway()
    gateway.proc = process
    return gateway


def _command(conf: SparkConf, prepared: PreparedJvm | None) -> list[str]:
    if prepared is None:
        command = [str(Path(_find_spark_home()) / "bin" / "spark-submit")]
    else:
        heap, options = conf.get("spark.driver.memory", "1g"), conf.get("spark.driver.extraJavaOptions", "") or ""
        command = [*prepared.command, f"-Xmx{heap}", *shlex.split(options), *prepared.options, MAIN]
    for name, value in conf.getAll():
        command += ["--conf", f"{name}={value}"]
    return command + shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))


def _start(command: list[str], address_file: Path, death_signal: signal.Signals) -> "subprocess.Popen[bytes]":
    # The last two as Spark's launcher sets them.
    environment = os.environ | {
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address_file),
        "SPARK_HOME": _find_spark_home(),
        "PYTHONHASHSEED": "0",
    }
    # The JVM ends when its stdin does.
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, env=environment, preexec_fn=_without_interrupts(with_parent(death_signal))
    )


def _without_interrupts(then: Callable[[], None]) -> Callable[[], None]:
    """Shield the JVM from Ctrl-C: this process receives it and then stops its JVM."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        then()

    return prepare


def _wait_for_address(process: "subprocess.Popen[bytes]", address_file: Path, seconds: float) -> tuple[int, str]:
    """The port and the secret of the JVM's gateway, once it has written them to a file.

    A JVM that cannot write them keeps running without an error. So this fails if this process cannot write either.
    """
    ends = time.monotonic() + seconds
    for look in count():
        if address_file.exists():
            break
        if look % _LOOKS_A_PROBE == 0:
            _probe(address_file.with_name("probe"))
        if process.poll() is not None:
            raise SparkStartError(f"Spark's JVM ended with exit code {process.returncode} before it could be reached")
        if time.monotonic() > ends:
            raise SparkStartError(f"Spark's JVM could not be reached within {seconds:g} s")
        time.sleep(_LOOK_SECONDS)
    content = address_file.read_bytes()
    port, size = _ADDRESS.unpack_from(content)
    return port, content[_ADDRESS.size : _ADDRESS.size + size].decode()


def _probe(path: Path) -> None:
    try:
        path.write_bytes(bytes(_PROBE_BYTES))
        path.unlink()
    except OSError as error:
        raise SparkStartError(f"Spark's JVM cannot write its port to {path.parent}: {error.strerror}") from error


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
