"""Cache of a store's adjacency file in one process.

The file is opened once, gets one overlay for each change version, and is built again after many changes.
"""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, select

from whence.death_signal import end_with_parent
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.csr import Csr, read_csr, write_csr
from whence.store.adjacency.overlay import MOST_CHANGED, StoreAdjacency, lay_over
from whence.store.connection.engine import open_store, reading
from whence.store.ingest.change_log import (
    GROUP,
    OWNER,
    TRAITS,
    ChangeVersion,
    changed_since,
    is_known,
    read_change_version,
)
from whence.store.schema.tables import edge

LEAST_EDGES = 1_000
"""Stores with fewer edges get no file: queries read the tables."""

OUTDATED = MOST_CHANGED // 4
"""The number of owners with changed edges that makes a rebuild due."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open file, identified by inode and modification time, with its content and its latest overlay."""

    known_by: tuple[int, int]
    content: tuple[ChangeVersion, Csr] | None
    version: ChangeVersion | None = None
    arrays: StoreAdjacency | None = None


class AdjacencyCache:
    """The adjacency file of one store. Thread-safe."""

    def __init__(self, file: Path) -> None:
        """`file` need not exist."""
        self.file = file
        self._lock = Lock()
        self._opened = _Opened((0, 0), None)

    def over(self, connection: Connection) -> StoreAdjacency | None:
        """The edges as a transaction sees them, or None if the file cannot answer."""
        opened = self._open()
        if opened.content is None:
            return None
        now = read_change_version(connection)
        if now is None or opened.version != now:
            laid = lay_over(connection, *opened.content)
            opened = replace(opened, version=now, arrays=None if laid is None else replace(laid, connection=None))
            self._keep(opened)
        return None if opened.arrays is None else replace(opened.arrays, connection=connection)

    def is_due(self, connection: Connection) -> bool:
        """Whether a rebuild is due: the store has edges, and the file is missing or too old."""
        if connection.execute(select(edge.c.owner_id).limit(1).offset(LEAST_EDGES - 1)).first() is None:
            return False
        if read_change_version(connection) is None:  # changes since the build could not be found
            return False
        content = self._open().content
        if content is None or not is_known(connection, content[0]):
            return True
        changed = changed_since(connection, content[0], (OWNER, GROUP), OUTDATED)
        if len(changed) == OUTDATED or any(kind != OWNER for kind, _ in changed):
            return True
        return len(changed_since(connection, content[0], [TRAITS], MOST_CHANGED)) == MOST_CHANGED

    def _open(self) -> _Opened:
        try:
            state = self.file.stat()
            known_by = (state.st_ino, state.st_mtime_ns)
        except OSError:
            return _Opened((0, 0), None)
        if self._opened.known_by != known_by:
            self._keep(_Opened(known_by, read_csr(self.file)))
        return self._opened

    def _keep(self, opened: _Opened) -> None:
        with self._lock:
            self._opened = opened


def build_file(engine: Engine, file: Path) -> bool:
    """Build the file. Returns False if another process is building it, or the store has no change version yet."""
    with _exclusive_lock(file) as is_alone, reading(engine) as connection:
        version = read_change_version(connection) if is_alone else None
        if version is None:
            return False
        write_csr(file, version, build_csr(connection))
        return True


@contextmanager
def _exclusive_lock(file: Path) -> Iterator[bool]:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_name(f"{file.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        for left in file.parent.glob(f"{file.name}.next-*"):  # left by a killed process
            left.unlink(missing_ok=True)
        yield True


def main() -> None:
    """Build a file in a separate process. The store's URL is read from stdin, since it may contain a password."""
    os.nice(10)
    end_with_parent()
    engine = open_store(sys.stdin.readline().strip())
    build_file(engine, Path(sys.argv[1]))
    engine.dispose()


if __name__ == "__main__":
    main()
