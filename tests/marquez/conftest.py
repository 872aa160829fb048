"""An API over the shop, whose events are in its log and in its store."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from api.process import Api, Serving
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply, applying
from marquez.shop import bodies
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.store.connection.engine import open_store, sqlite_url


def prepare(base: Path, bodies: Sequence[bytes]) -> None:
    """A log with these events, and a store that has them: where `Serving(base)` will look first."""
    log = base / "data0" / "log"
    fill(SegmentLog(log), bodies)
    engine = open_migrated(sqlite_url(base / "store0.db"))
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Read only."""
    base = tmp_path_factory.mktemp("shop")
    prepare(base, bodies())
    serving = Serving(base)
    yield serving()
    serving.end()


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """An API over the shop whose log comes into the store as it grows."""
    base = tmp_path_factory.mktemp("live")
    prepare(base, bodies())
    serving = Serving(base)
    api = serving()
    engine = open_store(api.store_url)
    with applying(engine, api.data / "log"):
        yield api
    serving.end()
    engine.dispose()
