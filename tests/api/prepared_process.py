"""Processes that serve the API, forked from one that has imported it: the import is most of what a start costs.

The process that they are forked from has done nothing else, and is not this one: no thread, connection or setting of a
test is in it. Each is started with the environment that the test has then.
"""

import json
import multiprocessing
import os
import signal
import socket
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["whence.api.server.serve"])
_END_SECONDS = 20


class ServingProcess:
    """A process that serves the API over a data directory and a store, on a socket of the test."""

    def __init__(self, data: Path, store_url: str, listening: socket.socket, options: Mapping[str, Any]) -> None:
        read_end, write_end = _CONTEXT.Pipe(duplex=False)
        arguments = (str(data), store_url, listening, json.dumps(options), dict(os.environ), write_end)
        self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        write_end.close()
        self._read_end = read_end

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self._process.pid is not None
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Return when it accepts requests. Raises AssertionError if it ends before."""
        with open(self._read_end.fileno(), "rb", closefd=False) as lines:
            assert lines.readline() == b"ready\n"

    def end(self, how: signal.Signals) -> None:
        """Send it a signal, and wait for its end."""
        os.kill(self.pid, how)
        self._process.join(_END_SECONDS)
        assert self._process.exitcode is not None
        self._process.close()
        self._read_end.close()


def _serve(
    data: str,
    store_url: str,
    listening: socket.socket,
    options: str,
    environment: dict[str, str],
    write_end: Connection,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(write_end.fileno(), 1)  # where it says that it is ready
    from whence.api.http.rate_limits import RateSettings
    from whence.api.server.serve import serve
    from whence.api.settings import Settings
    from whence.log.group_commit import CommitSettings

    given = {"open": True, **json.loads(options)}
    commit, rates = CommitSettings(**given.pop("commit", {})), RateSettings(**given.pop("rates", {}))
    serve(Settings(data=Path(data), store_url=store_url, commit=commit, rates=rates, **given), listening)
