"""The content of a store as an SQLite file, written while the store is in use; and stores restored from such files.

Both kinds of stores use one format, so either can be restored from either, and a backup can be queried like a store.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, insert, select
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import BackupError, StoreError
from whence.store.connection.engine import open_store, reading, sqlite_url, writing
from whence.store.encryption import keyring  # noqa: F401  # their tables are copied too
from whence.store.graph import blast_radius as blast  # noqa: F401  # their tables are copied too
from whence.store.ingest import dropped_datasets as dropped  # noqa: F401  # their tables are copied too
from whence.store.ingest import retention_summary as summary  # noqa: F401  # their tables are copied too
from whence.store.ingest import search_index as words  # noqa: F401  # their tables are copied too
from whence.store.migrations.migrate import migrate
from whence.store.schema.columns import written_columns
from whence.store.schema.tables import metadata
from whence.store.status import periodic_jobs as schedule  # noqa: F401  # their tables are copied too

ROWS = 10_000
"""Rows copied at a time."""


def copy_out(engine: Engine, file: Path) -> None:
    """Write one snapshot of a store into a new SQLite file. Raises SQLAlchemyError, sqlite3.Error."""
    if engine.dialect.name == "sqlite":
        with closing(sqlite3.connect(str(engine.url.database))) as store, closing(sqlite3.connect(file)) as copied:
            store.backup(copied)
            copied.execute("PRAGMA journal_mode=DELETE")  # one complete file
        return
    target = open_store(sqlite_url(file))
    migrate(target)
    with reading(engine) as source_connection, writing(target) as target_connection:
        for table in metadata.sorted_tables:
            for rows in _rows(source_connection, table):
                target_connection.execute(insert(table), rows)
    close_file(target)


def upgrade_copy(file: Path, scratch: Path) -> Path:
    """Copy a file of `copy_out` into the directory `scratch`, with the tables of this release.

    Raises BackupError if the file is of a newer release, or there is no space.
    """
    working = scratch / "store.db"
    source = open_store(sqlite_url(working))
    try:
        shutil.copyfile(file, working)
        migrate(source)
        close_file(source)
    except (OSError, SQLAlchemyError, StoreError) as error:
        raise BackupError(f"{file} cannot be restored: {error}") from error
    return working


def copy_in(working: Path, engine: Engine) -> None:
    """Fill an empty store from an upgraded file, all or nothing. Raises BackupError if the store is not empty."""
    if engine.dialect.name == "sqlite":
        _place(working, Path(str(engine.url.database)))
        return
    migrate(engine)
    source = open_store(sqlite_url(working))
    with reading(source) as source_connection, writing(engine) as target_connection:
        refuse_filled(target_connection)
        for table in metadata.sorted_tables:
            for rows in _rows(source_connection, table):
                _copy_rows(target_connection, table, rows)
    source.dispose()


def refuse_filled(connection: Connection) -> None:
    """Raise BackupError if any table has a row."""
    for table in metadata.sorted_tables:
        if connection.execute(select(table).limit(1)).first():
            raise BackupError(f"the store to restore into is not empty: its table {table.name} has rows")


def _place(working: Path, path: Path) -> None:
    """Move a finished file to its path, which must be free."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.restoring")
    shutil.copyfile(working, beside)
    try:
        _sync(beside)
        path.hardlink_to(beside)  # not a rename: that would replace a store
    except FileExistsError:
        raise BackupError(f"{path} already exists; restore a backup into an empty directory") from None
    finally:
        beside.unlink()
    _sync(path.parent)


def _sync(path: Path) -> None:
    """Make a file, or the entries of a directory, durable."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _rows(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    found = connection.execution_options(yield_per=ROWS).execute(select(*written_columns(table)))
    for some in found.mappings().partitions(ROWS):
        yield [dict(row) for row in some]


def _copy_rows(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """PostgreSQL's COPY."""
    names = ", ".join(f'"{column.name}"' for column in written_columns(table))
    cursor = connection.connection.cursor()
    with cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
        for row in rows:
            copy.write_row(list(row.values()))


def close_file(engine: Engine) -> None:
    """Close a store so that one complete file remains."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.connection.execute("PRAGMA journal_mode=DELETE")
    engine.dispose()
