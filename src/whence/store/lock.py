"""One process at a time: to derive into a store, and to compute its blast radius."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine, text

from whence.errors import StoreBusyError


@dataclass(frozen=True, slots=True)
class _Lock:
    """A file beside an SQLite store, or an advisory lock of PostgreSQL, and what to say where it is held."""

    suffix: str
    advisory: int
    busy: str


_DERIVE = _Lock(
    "derive", 0x77_68_65_6E_63_65, "another pipeline derives into this store; stop it first (it is part of `whence up`)"
)  # "whence"
_BLAST = _Lock("blast", 0x77_68_65_6E_63_66, "another process computes the blast radius of this store; wait for it")


@contextmanager
def deriving(engine: Engine) -> Iterator[None]:
    """Hold the store's derive lock; it ends with the process. Raises StoreBusyError if another process holds it."""
    with _held(engine, _DERIVE):
        yield


@contextmanager
def blasting(engine: Engine) -> Iterator[None]:
    """Hold the lock of the blast radius, likewise."""
    with _held(engine, _BLAST):
        yield


@contextmanager
def _held(engine: Engine, lock: _Lock) -> Iterator[None]:
    with _locked_file(engine, lock) if engine.dialect.name == "sqlite" else _locked_session(engine, lock):
        yield


@contextmanager
def _locked_file(engine: Engine, lock: _Lock) -> Iterator[None]:
    fd = os.open(f"{engine.url.database}.{lock.suffix}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreBusyError(lock.busy) from None
    finally:
        os.close(fd)


@contextmanager
def _locked_session(engine: Engine, lock: _Lock) -> Iterator[None]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # The server itself finds out that a driver's machine is gone, and frees the lock within a minute.
        for setting, value in (("idle", 20), ("interval", 10), ("count", 3)):
            connection.execute(text(f"SET tcp_keepalives_{setting} = {value}"))
        if not connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": lock.advisory}).scalar():
            raise StoreBusyError(lock.busy)
        try:
            yield
        finally:
            # The connection goes back to a pool, and the lock would stay with it.
            connection.execute(text("select pg_advisory_unlock(:key)"), {"key": lock.advisory})
