"""API processes for tests, ended after them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from api.process import Api, Serving
from whence.store.connection.engine import open_store
from whence.store.migrations.migrate import migrate


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """`serving(**settings)` starts an API process."""
    made = Serving(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One API process with small limits, shared by the tests of a module."""
    made = Serving(tmp_path_factory.mktemp("api"))
    try:
        yield made(max_body_bytes=200_000, kept_bytes=1_000, max_batch_events=50)
    finally:
        made.end()


@pytest.fixture
def migrated() -> Iterator[Callable[[Api], Engine]]:
    """`migrated(api)` makes the tables of its store and returns the engine."""
    engines: list[Engine] = []

    def make(api: Api) -> Engine:
        engines.append(open_store(api.store_url))
        migrate(engines[-1])
        return engines[-1]

    yield make
    for engine in engines:
        engine.dispose()
