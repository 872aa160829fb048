"""Starts Whence on this machine, for `whence up`."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NoReturn

from whence.cli.process.supervisor import Plan
from whence.cli.sending.doctor import doctor
from whence.cli.sending.ingest import ingest
from whence.cli.settings import archive_uri, tables_uri
from whence.death_signal import with_parent
from whence.errors import AddressError, WhenceError
from whence.log.address import open_log

__all__ = ["OPEN", "Guard", "doctor", "ingest", "plan", "running", "up"]


@dataclass(frozen=True, slots=True)
class Guard:
    """Access to the API: keys, unless it runs open; and https, given a certificate."""

    is_open: bool = False
    security: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def arguments(self) -> list[str]:
        """The arguments for the API's process."""
        named = {"--tls-cert": self.tls_cert, "--tls-key": self.tls_key}
        given = [part for name, value in named.items() if value for part in (name, str(value))]
        return [*given, "--open"] if self.is_open else given


OPEN = Guard(is_open=True)
"""No keys, on loopback only: the demo, tests and benchmarks."""


def plan(
    data: Path,
    store_url: str,
    *,
    log: str = "",
    host: str = "127.0.0.1",
    port: int = 8080,
    master: str = "local[2]",
    guard: Guard = Guard(),
) -> Plan:
    """The processes to run: the API on the supervisor's socket, and the pipeline. Raises LogError for a malformed log
    address.

    URLs are passed in the environment, since everybody on a machine can read arguments.
    """
    data = data.expanduser().absolute()
    log = log or str(data / "log")
    open_log(log)
    python = [sys.executable, "-m"]
    urls = {
        "WHENCE_STORE": store_url,
        "WHENCE_LOG": log,
        "WHENCE_ARCHIVE": archive_uri(data),
        "WHENCE_TABLES": tables_uri(data),
        "WHENCE_SECURITY": guard.security,
    }
    return Plan(
        data=str(data),
        host=host,
        port=port,
        children={
            "api": [*python, "whence.api", "--data", str(data), "--fd", "{fd}", *guard.arguments],
            "pipeline": [*python, "whence.derive", "--master", master],
        },
        environment=urls,
        tls=guard.tls_cert is not None,
        need_space=("pipeline",),
    )


def check_address(host: str, port: int) -> None:
    """Check that nothing else listens at an address. Raises AddressError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise AddressError(host, port, error.strerror or str(error)) from error


def up(what: Plan) -> NoReturn:
    """Replace this process with the supervisor, until SIGTERM or SIGINT."""
    command = _command(replace(what, reports_steps=True))
    os.execve(command[0], command, os.environ | what.environment)


@contextmanager
def running(what: Plan) -> Iterator[str]:
    """Run the supervisor beside this process while the context is open. Yields the URL when it is ready. Raises
    WhenceError.

    It ends with this process, too, however that ends.
    """
    process = subprocess.Popen(
        _command(what),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        process_group=0,
        env=os.environ | what.environment,
        preexec_fn=with_parent(signal.SIGTERM),
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                raise WhenceError(f"Whence did not start; {what.data}/run has its logs")
            yield words[1]
        finally:
            process.terminate()


def _command(what: Plan) -> list[str]:
    shown = {name: value for name, value in asdict(what).items() if name != "environment"}
    return [sys.executable, "-m", "whence.cli.process.supervisor", json.dumps(shown)]
