"""Scheduled builds of the adjacency file (`store.adjacency.cache`), each in a separate process.

The file is a copy: without it, and during a build, questions read the tables.
"""

import logging
import subprocess
import sys
import time
from threading import Event, Thread

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from whence.store.adjacency.cache import AdjacencyCache
from whence.store.connection.engine import reading

log = logging.getLogger(__name__)

LOOK_SECONDS = 5
REST = 10
"""The pause after a build, as a multiple of its duration."""


class AdjacencyBuilds:
    """Checks in a thread whether the file is too old, until it is stopped."""

    def __init__(self, engine: Engine, arrays: AdjacencyCache) -> None:
        self._engine, self._arrays = engine, arrays
        self._stopping = Event()
        self._thread = Thread(target=self._work, name="arrays", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and a running build."""
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        rest, complaint = 0.0, ""
        while not self._stopping.wait(max(rest, LOOK_SECONDS)):
            try:
                with reading(self._engine) as connection:
                    due = self._arrays.is_due(connection)
                rest, complaint = self._build() if due else 0.0, ""
            except (SQLAlchemyError, OSError) as error:  # the store does not respond: it may the next time
                before, complaint = complaint, str(error).splitlines()[0]
                if complaint != before:
                    log.warning("the arrays of the edges are not looked after: %s", complaint)

    def _build(self) -> float:
        """Build in a process that ends with this one. Returns the seconds to pause."""
        began = time.monotonic()
        command = [sys.executable, "-m", "whence.store.adjacency.cache", str(self._arrays.file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            errors = self._await(process, self._engine.url.render_as_string(hide_password=False) + "\n")
        took = time.monotonic() - began
        if process.returncode == 0:
            log.info("the arrays of the edges were made in %.1f s", took)
        elif not self._stopping.is_set():
            log.warning("the arrays of the edges could not be made: %s", (errors.strip().splitlines() or ["?"])[-1])
        return REST * took

    def _await(self, process: subprocess.Popen[str], given: str | None) -> str:
        """Wait for the process, and return its error output. Ends early if this is stopped."""
        while True:
            try:
                return process.communicate(given, timeout=0.1)[1]
            except subprocess.TimeoutExpired:
                given = None
            if self._stopping.is_set():
                process.terminate()
