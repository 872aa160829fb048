"""A store that goes away while the stream runs: the pipeline waits for it, and goes on in the JVM that it has."""

import signal
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from bench.workloads.events import bodies
from chaos.processes import children
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from services.pipeline_process import derive, driving, has_all, until
from services.postgres import PostgresProcess
from whence.log.address import open_log

RECORDS = 60


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PostgresProcess]:
    """A server of the test's own."""
    (directory := tmp_path / "postgres").mkdir()
    server = PostgresProcess(directory).start()
    yield server
    server.stop(signal.SIGKILL)


def test_the_stream_goes_on_in_the_same_jvm(server: PostgresProcess, tmp_path: Path) -> None:
    engine = open_migrated(server.url)
    log = open_log(url := str(tmp_path / "log"))
    events = bodies(seed=21, jobs=10, days=10)
    fill(log, islice(events, RECORDS))
    with driving([sys.executable, "-m", "whence.derive", *derive(url, engine)], tmp_path) as driver:
        until(driver, lambda: has_all(engine, log))
        before = children(driver.pid)
        for how in (signal.SIGKILL, signal.SIGINT):
            server.stop(how)
            engine.dispose()
            fill(log, islice(events, RECORDS))
            server.start()
            until(driver, lambda: has_all(engine, log))
        assert before
        assert set(before) <= set(children(driver.pid))
    assert driver.returncode == 0
    assert_ledger_balances(engine, records_of(log))
    assert_state_is_the_oracles(engine, records_of(log))
    engine.dispose()
