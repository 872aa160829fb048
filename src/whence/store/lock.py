"""One pipeline per store at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text

from whence.errors import StoreBusyError

_ADVISORY = 0x77_68_65_6E_63_65  # "whence"
_BUSY = "another pipeline derives into this store; stop it first (it is part of `whence up`)"


@contextmanager
def deriving(engine: Engine) -> Iterator[None]:
    """Hold the store's derive lock; it ends with the process. Raises StoreBusyError if another process holds it."""
    with _locked_file(engine) if engine.dialect.name == "sqlite" else _locked_session(engine):
        yield


@contextmanager
def _locked_file(engine: Engine) -> Iterator[None]:
    fd = os.open(f"{engine.url.database}.derive", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreBusyError(_BUSY) from None
    finally:
        os.close(fd)


@contextmanager
def _locked_session(engine: Engine) -> Iterator[None]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # The server itself finds out that a driver's machine is gone, and frees the lock within a minute.
        for setting, value in (("idle", 20), ("interval", 10), ("count", 3)):
            connection.execute(text(f"SET tcp_keepalives_{setting} = {value}"))
        if not connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": _ADVISORY}).scalar():
            raise StoreBusyError(_BUSY)
        yield
