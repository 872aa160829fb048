"""Opening of a store, and its two kinds of transactions: reading (a snapshot) and writing (one writer at a time in
SQLite).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from whence.errors import StoreError
from whence.sqlite_files import sqlite_url as sqlite_url
from whence.store.connection.revision import refuse_other_schema
from whence.store.connection.sqlite import WRITING, begin_sqlite, configure_sqlite
from whence.store.encryption.keyring import OPTION, Keyring
from whence.store.encryption.master_key import DataKey
from whence.store.schema.tables import progress


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store for Whence's other processes: its URL, and the data key of its encrypted content."""

    url: str = field(repr=False)  # it may have a password
    keys: tuple[DataKey, ...] = ()


def open_store(url: str, keys: Iterable[DataKey] = ()) -> Engine:
    """Create an engine for an existing or empty store; `migrate` creates the tables. PostgreSQL URLs may omit the
    driver.

    Encrypted content is opened with `keys`, else with the master key of the settings.
    """
    parsed = make_url(url)
    options = {OPTION: Keyring({key.id: key for key in keys})}
    if parsed.get_backend_name() == "postgresql":
        of_psycopg = parsed.set(drivername="postgresql+psycopg")
        return create_engine(of_psycopg, pool_pre_ping=True, execution_options=options)
    engine = create_engine(parsed, execution_options=options)
    event.listen(engine, "connect", configure_sqlite)
    event.listen(engine, "begin", begin_sqlite)
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open one consistent snapshot for any number of queries."""
    isolation = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**isolation) as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Open one writing transaction; commits at the end, rolls back on any error."""
    with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
        yield connection


def read_progress(engine: Engine, *, any_schema: bool = False) -> dict[str, int]:
    """By lane of the log: the position before which every record is in the tables.

    Raises StoreError if the store does not answer, or has other tables than this release, unless `any_schema`.
    """
    try:
        with reading(engine) as connection:
            if not any_schema:
                refuse_other_schema(connection)
            found = connection.execute(select(progress.c.name, progress.c.position)).all()
    except SQLAlchemyError as error:
        raise StoreError(f"the store cannot be read: {error.args[0] if error.args else error}") from error
    return {row.name: row.position for row in found}
