"""Replacement of a store's content: the new content is built beside it, then swapped in within one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, Engine, text

from whence.store.connection.data_key import provide_key, require_master_key
from whence.store.connection.engine import open_store, sqlite_url, writing
from whence.store.connection.lock import hold_derive_lock
from whence.store.encryption import keyring  # noqa: F401  # their tables are replaced too
from whence.store.ingest import dropped_datasets as dropped  # noqa: F401  # their tables are replaced too
from whence.store.ingest import retention_summary as summary  # noqa: F401  # their tables are replaced too
from whence.store.ingest import search_index as words  # noqa: F401  # their tables are replaced too
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import metadata

_NEXT = "whence_next"


@contextmanager
def replace_store(store_url: str) -> Iterator[Engine]:
    """Open an empty store to build in. At the end its tables replace those of the store at `store_url`; after an error
    they do not.

    With a configured master key the new content has a new data key. Raises StoreBusyError while a pipeline derives into
    the store, StoreError if the lock was lost, EncryptionError if the store is encrypted and no master key is
    configured.
    """
    engine = open_store(store_url)
    migrate(engine)
    swap = _building_file if engine.dialect.name == "sqlite" else _building_schema
    try:
        require_master_key(engine)
        with hold_derive_lock(engine) as check_lock, swap(engine) as beside:
            yield beside
            check_lock()
    finally:
        engine.dispose()


@contextmanager
def _building_file(engine: Engine) -> Iterator[Engine]:
    _remove_next(engine)
    # A unique name: an executor may still have the file of an earlier rebuild open.
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
                raw.execute("PRAGMA secure_delete=ON")  # freed pages keep no readable content
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
