"""The JVM ends while the stream has nothing for it to do: the pipeline ends too, so that its supervisor starts both."""

import os
import signal
import sys
from pathlib import Path

from bench.workloads.events import bodies
from chaos.processes import children
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.waits import PATIENCE_SECONDS
from services.pipeline_process import derive, driving, has_all, until
from whence.log.address import open_log
from whence.store.connection.engine import sqlite_url


def test_a_pipeline_without_its_jvm_ends(tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    log = open_log(url := str(tmp_path / "log"))
    fill(log, [next(bodies(seed=21, jobs=10, days=10))])
    with driving([sys.executable, "-m", "whence.derive", *derive(url, engine)], tmp_path) as driver:
        until(driver, lambda: has_all(engine, log))
        for child in children(driver.pid):
            os.kill(child, signal.SIGKILL)
        assert driver.wait(PATIENCE_SECONDS) == 1
    assert "Spark's JVM ended" in (tmp_path / "driver.log").read_text()
    engine.dispose()
