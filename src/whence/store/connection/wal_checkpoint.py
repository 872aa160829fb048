"""Shortening of SQLite's write-ahead log. SQLite itself reuses it, and never shortens it while there are readers."""

import logging
import sqlite3
from pathlib import Path

from sqlalchemy import Engine

logger = logging.getLogger(__name__)

LEAST_BYTES = 1 << 20
"""Shorter logs are left alone."""


class Checkpoints:
    """Shortens the write-ahead log of a store at quiet moments. Does nothing for PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        is_file = engine.dialect.name == "sqlite" and engine.url.database
        self._wal = Path(f"{engine.url.database}-wal") if is_file else None
        self._seen = (0, 0)

    def shorten_if_quiet(self) -> bool:
        """Shorten the log if nothing was written since the last call. Returns whether it did. Waits for nobody."""
        if self._wal is None or not self._is_quiet(self._wal):
            return False
        is_busy = True
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            raw = connection.connection
            try:
                raw.execute("PRAGMA busy_timeout=0")
                (is_busy, _, _) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError as error:  # a full disk: the next look may find space
                logger.warning("the write-ahead log of the store cannot be shortened: %s", error)
            finally:
                connection.invalidate()  # its settings are not those of others
        return not is_busy

    def _is_quiet(self, wal: Path) -> bool:
        before = self._seen
        try:
            state = wal.stat()
        except FileNotFoundError:
            return False
        self._seen = (state.st_size, state.st_mtime_ns)
        return state.st_size >= LEAST_BYTES and self._seen == before
