"""Stores with the churn story in them."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from query.worlds.churn_story import WORLD
from query.worlds.random_worlds import load
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    """The churn story, on each kind of store."""
    load(store, WORLD)
    with reading(store) as connection:
        yield StoreGraph(connection)
