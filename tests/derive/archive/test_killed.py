"""An archiver that is killed, at any step it takes, leaves an archive of exactly the log's beginning."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from fixtures.both_logs import records_of
from fixtures.received_events import append, hourly, segments
from whence.derive.archive.copy import Sizes, archive_log
from whence.derive.archive.table import find_archive
from whence.derive.delta.table import storage
from whence.derive.reading.records import to_records
from whence.log import Record
from whence.log.segments.log import LANE, SegmentLog

SIZES = Sizes(task=200_000, portion=500_000)

ARCHIVER = """
import os, signal, sys
from whence.derive.archive.copy import Sizes, archive_log
from whence.derive.archive.table import Archive
from whence.derive.spark.session import open_session
from whence.log.address import open_log

log, uri, deadly = open_log(sys.argv[1]), sys.argv[2], int(sys.argv[3])
commits = 0

def step(frame, event, called):
    global commits
    commits += event == "call" and frame.f_code is Archive._commit.__code__
    if commits == deadly:
        os.kill(os.getpid(), signal.SIGKILL)

session = open_session()
sys.setprofile(step)
archive_log(session, log, uri, Sizes(task=200_000, portion=500_000))
"""


def run(log: SegmentLog, uri: str, deadly: int) -> int:
    """Archive in a process that kills itself where it begins a commit; how it ended."""
    command = [sys.executable, "-c", ARCHIVER, str(log.directory), uri, str(deadly)]
    with subprocess.Popen(command, start_new_session=True) as process:
        process.wait()
        if process.returncode:
            os.killpg(process.pid, signal.SIGKILL)  # its JVM
    return process.returncode


def held(uri: str) -> list[Record]:
    archive = find_archive(uri)
    if archive is None:
        return []
    tables = [pq.read_table(file.path, filesystem=storage(uri), partitioning=None) for file in archive.files()]
    found = [one for table in tables for batch in table.to_batches() for one in to_records(batch)]
    return sorted(found, key=lambda one: one.position)


def check_is_a_beginning(uri: str, expected: list[Record]) -> int:
    """The archive holds exactly what it says that it does: so many of the expected records, from the first on."""
    archive = find_archive(uri)
    reach = archive.reach(LANE) if archive else None
    archived = [one for one in expected if reach and one.position.as_int < reach.until]
    assert held(uri) == archived
    return len(archived)


def test_kill_9(spark: SparkSession, tmp_path: Path) -> None:
    log, uri = segments(tmp_path / "log"), str(tmp_path / "archive")
    append(log, hourly(200))
    assert run(log, uri, 2) == -signal.SIGKILL
    assert 0 < check_is_a_beginning(uri, records_of(log)) < 200
    archive_log(spark, log, uri, SIZES)
    assert check_is_a_beginning(uri, records_of(log)) == 200


def test_a_kill_at_any_step_leaves_what_the_next_archiver_completes(spark: SparkSession, tmp_path: Path) -> None:
    """What is on disk at a step is what a kill there leaves: every such state is kept, and archived from."""
    log, uri = segments(tmp_path / "log"), tmp_path / "archive"
    append(log, hourly(200))
    expected = records_of(log)
    states: dict[tuple[str, ...], Path] = {}

    def keep(frame: FrameType, event: str, called: object) -> None:
        found = tuple(sorted(str(one.relative_to(uri)) for one in uri.rglob("*") if one.is_file()))
        if found not in states:
            states[found] = copied = tmp_path / f"state{len(states)}"
            shutil.copytree(uri, copied) if uri.exists() else copied.mkdir()

    sys.setprofile(lambda *step: keep(*step) if "whence/derive/archive" in step[0].f_code.co_filename else None)
    try:
        archive_log(spark, log, str(uri), SIZES)
    finally:
        sys.setprofile(None)
    assert held(str(uri)) == expected
    archived = {check_is_a_beginning(str(state), expected) for state in states.values()}
    assert {0, 200} < archived
    for state in states.values():
        archive_log(spark, log, str(state), SIZES)
        assert held(str(state)) == expected
    assert len(states) >= 2 * len(archived) - 1  # with files and without their commit
