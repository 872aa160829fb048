"""A real API process on loopback, over a data directory of its own, and a client for it."""

import http.client
import json
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.prepared_process import ServingProcess
from whence.log import Record
from whence.log.segments import committed_end, read_records, start_position
from whence.store.connection.engine import sqlite_url


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
    process: ServingProcess | None = None

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def up(self) -> "Api":
        """Start the process, and wait until it serves."""
        self.process = ServingProcess(self.data, self.store_url, self.listening, self.options)
        self.process.wait_until_ready()
        return self

    def down(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process, if it runs."""
        if self.process is None:
            return
        self.process.end(how)
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
