"""What the tests of retention share."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from retention.worlds import opened
from whence.store.connection.engine import sqlite_url


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One SQLite store for many small histories; each empties it first."""
    with opened(sqlite_url(tmp_path_factory.mktemp("store") / "store.db")) as engine:
        yield engine
