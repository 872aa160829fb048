"""`whence up` on a machine that sleeps, as a laptop does: it continues, with the same processes."""

import logging
import os
import signal
import time
from pathlib import Path

import pytest

from chaos.processes import marked
from nightly.disks import serving, until

logger = logging.getLogger(__name__)

SLEEP_SECONDS = 150
"""More than the two minutes after which Spark gives up an executor that sends no heartbeat."""


def test_it_goes_on_after_a_sleep(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    data = tmp_path / "data"
    for place in ("store", "security"):
        (data / place).mkdir(parents=True)
    with serving(data) as served:
        assert served.post() == 201
        until(served.is_well)
        pipeline = served.pipeline["pid"]
        sleep(data)
        assert served.post() == 201
        took = until(served.is_well)
        logger.info("well %.1f s after it woke up", took)
        assert took <= pytestconfig.getoption("--back")
        assert served.pipeline["pid"] == pipeline
        assert "ERROR" not in (data / "run" / "pipeline.log").read_text("utf-8")


def sleep(data: Path) -> None:
    """Stop all its processes, for so long that Spark would take its executor for dead."""
    processes = list(marked(data))
    for one in processes:
        os.kill(one, signal.SIGSTOP)
    time.sleep(SLEEP_SECONDS)
    for one in processes:
        os.kill(one, signal.SIGCONT)
