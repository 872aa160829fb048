"""Replacing a store's content at once: a new one is built beside it, then takes its place in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, Engine, text

from whence.store import dropped, keyring, summary, words  # noqa: F401  # their tables are replaced too
from whence.store.engine import open_store, sqlite_url, writing
from whence.store.lock import deriving
from whence.store.migrate import migrate
from whence.store.tables import metadata
from whence.store.vault import provide_key, refuse_unsealing

_NEXT = "whence_next"


@contextmanager
def replacing(store_url: str) -> Iterator[Engine]:
    """An empty store to build in; at the end its tables replace those of the store at `store_url`, or on an error
    nothing does.

    Where a master key is configured, what is built has a new data key. Raises StoreBusyError while a pipeline derives
    into the store, StoreError if its lock was lost meanwhile, EncryptionError if the store is encrypted and no master
    key is configured.
    """
    engine = open_store(store_url)
    migrate(engine)
    swap = _building_file if engine.dialect.name == "sqlite" else _building_schema
    try:
        refuse_unsealing(engine)
        with deriving(engine) as check_lock, swap(engine) as beside:
            yield beside
            check_lock()
    finally:
        engine.dispose()


@contextmanager
def _building_file(engine: Engine) -> Iterator[Engine]:
    _remove_next(engine)
    # A name of its own: an executor may still have the file of an earlier rebuild open.
    beside_path = Path(f"{engine.url.database}.next-{uuid4().hex}")
    beside = open_store(sqlite_url(beside_path))
    try:
        migrate(beside)
        provide_key(beside)
        yield beside
        beside.dispose()
        _copy_tables(engine, beside_path)
    finally:
        beside.dispose()
        _remove_next(engine)


def _copy_tables(engine: Engine, beside: Path) -> None:
    with engine.connect() as connection:
        raw = connection.connection
        raw.execute("ATTACH ? AS beside", (str(beside),))
        try:
            if raw.execute('SELECT 1 FROM beside."data_key"').fetchone():
                raw.execute("PRAGMA secure_delete=ON")  # nothing stays legible in pages that become free
            raw.execute("BEGIN IMMEDIATE")
            for table in metadata.sorted_tables:
                raw.execute(f'DELETE FROM main."{table.name}"')
                raw.execute(f'INSERT INTO main."{table.name}" SELECT * FROM beside."{table.name}"')
            raw.execute("COMMIT")
        finally:
            connection.invalidate()


@contextmanager
def _building_schema(engine: Engine) -> Iterator[Engine]:
    with writing(engine) as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {_NEXT} CASCADE"))
        connection.execute(text(f"CREATE SCHEMA {_NEXT}"))
    beside = open_store(
        engine.url.update_query_dict({"options": f"-csearch_path={_NEXT}"}).render_as_string(hide_password=False)
    )
    try:
        migrate(beside)
        provide_key(beside)
        yield beside
        beside.dispose()
        with writing(engine) as connection:
            _move_tables(connection)
    finally:
        beside.dispose()
        with writing(engine) as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {_NEXT} CASCADE"))


def _move_tables(connection: Connection) -> None:
    current = connection.execute(text("select current_schema()")).scalar_one()
    for table in metadata.sorted_tables:
        connection.execute(text(f'DROP TABLE "{table.name}"'))
        connection.execute(text(f'ALTER TABLE {_NEXT}."{table.name}" SET SCHEMA "{current}"'))


def _remove_next(engine: Engine) -> None:
    database = Path(str(engine.url.database))
    for left in database.parent.glob(f"{escape(database.name)}.next-*"):
        left.unlink(missing_ok=True)
