"""Backup of the security database as an SQLite file, and its restoration: keys, grants, hidings and the audit log.

Sessions and pending logins are left out: people sign in again.
"""

from pathlib import Path

from sqlalchemy import Connection, Engine, Table, delete, func, insert, inspect, select

from whence.errors import BackupError
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.lifecycle.copy import close_file
from whence.store.security.database import migrate_security
from whence.store.security.tables import audit, audit_head, grant, hiding, key, restriction, state

_ROWS = 10_000
_FILLED = (key, grant, hiding, audit)
_COPIED = (state, *_FILLED, restriction, audit_head)


def has_security_database(engine: Engine) -> bool:
    """Whether there is a security database; there is none if Whence always ran open. Raises SQLAlchemyError."""
    path = engine.url.database
    if engine.dialect.name == "sqlite" and not (path and Path(path).exists()):  # a query would create the file
        return False
    return inspect(engine).has_table(state.name)


def copy_out_security(engine: Engine, file: Path) -> None:
    """Write one snapshot into a new file that only its owner may read. Raises SQLAlchemyError."""
    file.touch(mode=0o600)
    target = open_store(sqlite_url(file))
    migrate_security(target)
    with reading(engine) as source, writing(target) as connection:
        _copy(source, connection)
    close_file(target)


def copy_in_security(file: Path, engine: Engine) -> None:
    """Fill an empty security database, all or nothing. Raises BackupError if it is not empty, SQLAlchemyError."""
    migrate_security(engine)
    source = open_store(sqlite_url(file))
    migrate_security(source)
    try:
        with reading(source) as copied, writing(engine) as connection:
            refuse_guarded(connection)
            _copy(copied, connection)
    finally:
        source.dispose()
    if engine.dialect.name == "sqlite":
        Path(str(engine.url.database)).chmod(0o600)


def refuse_guarded(connection: Connection) -> None:
    """Raise BackupError if there are keys, grants or an audit log."""
    for table in _FILLED:
        if connection.execute(select(func.count()).select_from(table)).scalar():
            raise BackupError(f"the security database is not empty: its table {table.name} has rows")


def _copy(source: Connection, target: Connection) -> None:
    for table in _COPIED:
        target.execute(delete(table))  # the rows that the migration inserts
        _copy_rows(source, target, table)


def _copy_rows(source: Connection, target: Connection, table: Table) -> None:
    found = source.execution_options(yield_per=_ROWS).execute(select(table))
    for rows in found.mappings().partitions(_ROWS):
        target.execute(insert(table), [dict(row) for row in rows])
