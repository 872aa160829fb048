"""Opening of the security database, and upgrades of its tables."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from whence.errors import StoreError
from whence.store.connection.engine import open_store, reading, sqlite_url, writing

VERSION_TABLE = "access_version"
_WAL_PAGES = 1_000
"""Rows are appended one by one here; a long write-ahead log as the store's saves nothing."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATING = 0x77_68_65_6E_63_68  # "whench"


def security_url(store_url: str) -> str:
    """The default location of the security database of a store: a file beside it, or its own database.

    Raises StoreError for a store that has no URL.
    """
    try:
        url = make_url(store_url)
    except ArgumentError as error:
        raise StoreError(f"the store cannot be read: {error}") from None
    if url.get_backend_name() != "sqlite" or not url.database:
        return store_url
    return sqlite_url(Path(url.database).with_suffix(".security.db"))


def has_security(url: str) -> bool:
    """Whether there can be a security database at this URL. One that runs open has no file, and none is created."""
    parsed = make_url(url)
    return parsed.get_backend_name() != "sqlite" or bool(parsed.database and Path(parsed.database).is_file())


def open_security(url: str) -> Engine:
    """Open the security database with upgraded tables. Raises StoreError."""
    engine = open_store(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _shorten_log)
    try:
        migrate_security(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise _unreachable(error) from error
    if engine.dialect.name == "sqlite" and engine.url.database:
        Path(engine.url.database).chmod(0o600)
    return engine


def _shorten_log(connection: sqlite3.Connection, _record: Any) -> None:
    connection.execute(f"PRAGMA wal_autocheckpoint={_WAL_PAGES}")


def migrate_security(engine: Engine) -> None:
    """Create or upgrade the tables, in one transaction. Does nothing if they are current.

    Raises StoreError if they are those of a later release.
    """
    if _is_current(engine):
        return
    # Imported only for an upgrade: it takes a twentieth of a server's start.
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":  # several API processes may start at once
            connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _MIGRATING})
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(f"the security database is of a later release ({error}): use that one") from error


def _is_current(engine: Engine) -> bool:
    newest = max(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))
    with reading(engine) as connection:
        if not inspect(connection).has_table(VERSION_TABLE):
            return False
        return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar() == newest


@contextmanager
def read_security(engine: Engine) -> Iterator[Connection]:
    """Open a reading transaction. Raises StoreError."""
    try:
        with reading(engine) as connection:
            yield connection
    except SQLAlchemyError as error:
        raise _unreachable(error) from error


@contextmanager
def write_security(engine: Engine) -> Iterator[Connection]:
    """Open a writing transaction. Raises StoreError."""
    try:
        with writing(engine) as connection:
            yield connection
    except SQLAlchemyError as error:
        raise _unreachable(error) from error


def _unreachable(error: SQLAlchemyError) -> StoreError:
    # The first line of a driver's message: later ones repeat the statement and its values.
    return StoreError(
        f"the security database does not answer: {str(error.args[0]).splitlines()[0] if error.args else error}"
    )
