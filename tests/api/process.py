"""A real API process on loopback, over a data directory of its own, and a client for it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.log import Record
from whence.log.segments import committed_end, read_records, start_position
from whence.store.connection.engine import sqlite_url

SERVE = """
import json, socket, sys
from pathlib import Path
from whence.api.http.rate_limits import RateSettings
from whence.api.server.serve import serve
from whence.api.settings import Settings
from whence.log.group_commit import CommitSettings

data, store, fd, options = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
commit = CommitSettings(**options.pop("commit", {}))
rates = RateSettings(**options.pop("rates", {}))
options.setdefault("open", True)
serve(Settings(data=data, store_url=store, commit=commit, rates=rates, **options), socket.socket(fileno=fd))
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    json: Any


@dataclass(slots=True)
class Api:
    """An API process. The socket is the test's, as it is the supervisor's: clients wait in it over a restart."""

    data: Path
    store_url: str
    options: dict[str, Any]
    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0), backlog=256))
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def up(self) -> "Api":
        """Start the process, and wait until it serves."""
        fd = self.listening.fileno()
        command = [sys.executable, "-c", SERVE, str(self.data), self.store_url, str(fd), json.dumps(self.options)]
        self.process = subprocess.Popen(command, pass_fds=[fd], stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def down(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process, if it runs."""
        if self.process is None:
            return
        assert self.process.stdout is not None
        os.kill(self.process.pid, how)
        self.process.wait(20)
        self.process.stdout.close()
        self.process = None

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            content = response.read()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, json.loads(content))
        finally:
            connection.close()

    def post(self, body: Any, path: str = "/api/v1/lineage", **headers: str) -> Answer:
        """Post bytes, or a value as JSON. Header names are written with `_` for `-`."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, sent, {name.replace("_", "-"): value for name, value in headers.items()})

    def records(self) -> list[Record]:
        """All that the log serves."""
        directory = self.data / "log"
        return list(read_records(directory, start_position(directory), committed_end(directory)))


class Serving:
    """Makes API processes, and ends them after the test."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._made: list[Api] = []

    def __call__(self, **options: Any) -> Api:
        number = len(self._made)
        data = self._base / f"data{number}"
        api = Api(data, sqlite_url(self._base / f"store{number}.db"), options)
        self._made.append(api)
        return api.up()

    def end(self) -> None:
        for api in self._made:
            api.down(signal.SIGKILL)
            api.listening.close()
