"""The lock of those who derive into a store: it is one process at a time, and who loses it finds out."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from whence.errors import StoreBusyError, StoreError
from whence.store.engine import open_store
from whence.store.lock import deriving
from whence.store.migrate import migrate
from whence.store.replace import replacing

OTHERS = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()"


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Engine]:
    """An empty store on PostgreSQL."""
    engine = open_store(postgres_url)
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def other(store_url: str) -> Iterator[Engine]:
    """Another process's way to `store`."""
    engine = open_store(store_url)
    yield engine
    engine.dispose()


def test_it_is_held_until_the_end(store: Engine, other: Engine) -> None:
    with deriving(store) as check:
        check()
        with pytest.raises(StoreBusyError), deriving(other):
            pass
    with deriving(other):
        pass


def test_it_is_lost_with_its_session(postgres: Engine) -> None:
    with deriving(postgres) as check:
        end_sessions(postgres)
        with pytest.raises(StoreError, match="start again"):
            check()
        with deriving(postgres):
            pass


def test_a_store_that_is_not_there_is_an_error_of_whence() -> None:
    with pytest.raises(StoreError, match="cannot be reached"), deriving(open_store("postgresql://127.0.0.1:1/none")):
        pass


def test_a_rebuild_that_lost_it_replaces_nothing(postgres: Engine) -> None:
    tables = identities(postgres)
    url = postgres.url.render_as_string(hide_password=False)
    with pytest.raises(StoreError, match="start again"), replacing(url):
        end_sessions(postgres)
    assert identities(postgres) == tables


def identities(engine: Engine) -> list[int]:
    """What tells tables from others of the same names."""
    with engine.connect() as connection:
        return list(connection.execute(text("select 'event'::regclass::oid::bigint")).scalars())


def end_sessions(engine: Engine) -> None:
    """As a restart of PostgreSQL ends those that hold locks."""
    with engine.connect() as connection:
        connection.execute(text(OTHERS))
