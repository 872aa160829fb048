"""SQLite: the settings of its connections, and how its transactions begin."""

import sqlite3
from typing import Any

from sqlalchemy import Connection

WRITING = "whence_writing"
"""The execution option of a connection whose transactions write."""

_PRAGMAS = (
    "busy_timeout=60000",  # first: those below may wait for a lock
    "synchronous=NORMAL",
    "mmap_size=1073741824",
    # Ids are hashes, so a merge touches pages everywhere: a checkpoint each 64 MiB, not 4, saves a third of the time.
    "wal_autocheckpoint=16384",
    # After a burst of writes, SQLite truncates its log to this size when it restarts it
    # (`store.connection.wal_checkpoint`).
    "journal_size_limit=67108864",
    "cache_size=-32768",
)

_ATTEMPTS = 100
"""Each ends when another process was done with the lock."""


def configure_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    """Set the pragmas of a new connection."""
    connection.isolation_level = None  # transactions begin in begin_sqlite, not where the driver guesses
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    _use_wal(connection)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on write-ahead logging. When several processes open a new file at once, SQLite refuses the change without
    waiting (SQLITE_BUSY, by design against deadlocks), whatever the time-out: wait for the lock, and ask again.
    """
    for _ in range(_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    connection.execute("PRAGMA journal_mode=WAL")


def begin_sqlite(connection: Connection) -> None:
    """Begin a transaction; as a writer at once if the connection has the option WRITING."""
    # A deferred transaction that turns into a writer fails when another wrote meanwhile: writers lock at once.
    mode = "IMMEDIATE" if connection.get_execution_options().get(WRITING) else "DEFERRED"
    connection.exec_driver_sql(f"BEGIN {mode}")
