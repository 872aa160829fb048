"""The lock of those who derive into a store: it is one process at a time, and who loses it finds out."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from fixtures.migrated_stores import open_migrated
from whence.errors import StoreBusyError, StoreError
from whence.store.connection.engine import open_store
from whence.store.connection.lock import hold_derive_lock
from whence.store.lifecycle.replace import replace_store

OTHERS = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()"


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Engine]:
    """An empty store on PostgreSQL."""
    engine = open_migrated(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def other(store_url: str) -> Iterator[Engine]:
    """Another process's way to `store`."""
    engine = open_store(store_url)
    yield engine
    engine.dispose()


def test_it_is_held_until_the_end(store: Engine, other: Engine) -> None:
    with hold_derive_lock(store) as check:
        check()
        with pytest.raises(StoreBusyError), hold_derive_lock(other):
            pass
    with hold_derive_lock(other):
        pass


def test_it_is_lost_with_its_session(postgres: Engine) -> None:
    with hold_derive_lock(postgres) as check:
        end_sessions(postgres)
        with pytest.raises(StoreError, match="start again"):
            check()
        with hold_derive_lock(postgres):
            pass


def test_a_store_that_is_not_there_is_an_error_of_whence() -> None:
    with (
        pytest.raises(StoreError, match="cannot be reached"),
        hold_derive_lock(open_store("postgresql://127.0.0.1:1/none")),
    ):
        pass


def test_a_rebuild_that_lost_it_replaces_nothing(postgres: Engine) -> None:
    tables = identities(postgres)
    url = postgres.url.render_as_string(hide_password=False)
    with pytest.raises(StoreError, match="start again"), replace_store(url):
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
