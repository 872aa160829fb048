"""Locks for one process at a time: deriving into a store, computing its blast radius, changing assertions of people,
evaluating objectives, and recording incidents.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from whence.errors import StoreBusyError, StoreGoneError


@dataclass(frozen=True, slots=True)
class _Lock:
    """A file beside an SQLite store, or an advisory lock of PostgreSQL, and the error text if it is held."""

    suffix: str
    advisory: int
    busy: str


_DERIVE = _Lock(
    "derive", 0x77_68_65_6E_63_65, "another pipeline derives into this store; stop it first (it is part of `whence up`)"
)  # "whence"
_BLAST = _Lock("blast", 0x77_68_65_6E_63_66, "another process computes the blast radius of this store; wait for it")
_ASSERT = _Lock("assert", 0x77_68_65_6E_63_67, "another instance of the API changes what people assert; send it again")
_SLOS = _Lock("slos", 0x77_68_65_6E_63_68, "another instance of the API evaluates objectives")
_INCIDENTS = _Lock("incidents", 0x77_68_65_6E_63_69, "another instance of the API records incidents")
_RULES = _Lock("rules", 0x77_68_65_6E_63_6B, "another instance of the API evaluates declared rules")
_OUTBOX = _Lock("outbox", 0x77_68_65_6E_63_6A, "another instance of the API sends notifications")
_EVIDENCE = _Lock("evidence", 0x77_68_65_6E_63_6C, "another process stores evidence packs of this store")


Check = Callable[[], None]
"""Raises StoreGoneError if the lock is lost: PostgreSQL releases it with the session, for example at a restart."""


@contextmanager
def hold_derive_lock(engine: Engine) -> Iterator[Check]:
    """Hold the store's derive lock; it ends with the process.

    Raises StoreBusyError if another process holds it, StoreGoneError if PostgreSQL does not answer.
    """
    with _hold(engine, _DERIVE) as check:
        yield check


@contextmanager
def hold_blast_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of the blast radius, with the same errors."""
    with _hold(engine, _BLAST) as check:
        yield check


@contextmanager
def hold_slo_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of the evaluation of objectives, with the same errors."""
    with _hold(engine, _SLOS) as check:
        yield check


@contextmanager
def hold_incident_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of the recording of incidents, with the same errors."""
    with _hold(engine, _INCIDENTS) as check:
        yield check


@contextmanager
def hold_rules_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of the evaluation of declared rules, with the same errors."""
    with _hold(engine, _RULES) as check:
        yield check


@contextmanager
def hold_outbox_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of sending notifications, with the same errors."""
    with _hold(engine, _OUTBOX) as check:
        yield check


@contextmanager
def hold_evidence_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock of storing evidence packs and signing heads, with the same errors."""
    with _hold(engine, _EVIDENCE) as check:
        yield check


@contextmanager
def hold_assertion_lock(engine: Engine) -> Iterator[Check]:
    """Hold the lock for reading assertions of people and appending a change, with the same errors."""
    with _hold(engine, _ASSERT) as check:
        yield check


@contextmanager
def _hold(engine: Engine, lock: _Lock) -> Iterator[Check]:
    with _lock_file(engine, lock) if engine.dialect.name == "sqlite" else _lock_session(engine, lock) as check:
        yield check


@contextmanager
def _lock_file(engine: Engine, lock: _Lock) -> Iterator[Check]:
    fd = os.open(f"{engine.url.database}.{lock.suffix}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield lambda: None
    except BlockingIOError:
        raise StoreBusyError(lock.busy) from None
    finally:
        os.close(fd)


@contextmanager
def _lock_session(engine: Engine, lock: _Lock) -> Iterator[Check]:
    with _connect(engine).execution_options(isolation_level="AUTOCOMMIT") as connection:
        # The server itself detects that a driver's machine is gone, and releases the lock within a minute.
        for setting, value in (("idle", 20), ("interval", 10), ("count", 3)):
            connection.execute(text(f"SET tcp_keepalives_{setting} = {value}"))
        if not connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": lock.advisory}).scalar():
            raise StoreBusyError(lock.busy)
        try:
            yield partial(_check, connection)
        finally:
            # The connection returns to a pool, and would keep the lock.
            if not connection.invalidated:
                with suppress(DBAPIError):
                    connection.execute(text("select pg_advisory_unlock(:key)"), {"key": lock.advisory})


def _connect(engine: Engine) -> Connection:
    try:
        return engine.connect()
    except DBAPIError as error:
        raise StoreGoneError(f"the store cannot be reached: {error.orig}") from None


def _check(connection: Connection) -> None:
    try:
        connection.execute(text("select 1"))
    except DBAPIError:
        raise StoreGoneError(
            "PostgreSQL ended the session that held the lock of this store, so another process may have it now: "
            "start again"
        ) from None
