"""The tail of a log: the driver merges the little that waits, Spark what is more. Nothing is lost, or merged twice."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.workloads.events import Noise, arrivals
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from services.pipeline_process import derive, driving, has_all, until
from whence.derive.pipeline import run_stream
from whence.derive.rebuild import rebuild
from whence.derive.streams.segments import GROUP, HERE_BYTES
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentSettings
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import read_ledger

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)
MANY = 3_600
"""More bytes than the driver merges."""


def waves() -> Iterator[list[bytes]]:
    """Bodies as they arrive: one, a few, many at once, and a few again."""
    source = (one.body for one in arrivals(seed=5, jobs=15, days=300, noise=NOISE))
    for size in (1, 3, 1, MANY, 2, 1, MANY, 1, 10, 1):
        yield list(islice(source, size))


def test_waves_of_events_give_the_state_of_a_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    log = SegmentLog(tmp_path / "log", SegmentSettings(segment_bytes=1 << 20, recent_keys=50))
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    with driving([sys.executable, "-m", "whence.derive", *derive(str(log.directory), engine)], tmp_path) as driver:
        for bodies in waves():
            fill(log, bodies)
            until(driver, lambda: has_all(engine, log))
    assert driver.returncode == 0
    url = sqlite_url(tmp_path / "rebuilt.db")
    rebuild(spark, log, url)
    rebuilt = open_store(url)
    assert list(dump(engine)) == list(dump(rebuilt))
    assert read_ledger(engine) == read_ledger(rebuilt)
    assert sum(len(one.payload) for one in records_of(log)) > 2 * HERE_BYTES
    for one in (engine, rebuilt):
        one.dispose()


def jobs_of(spark: SparkSession) -> int:
    """How many jobs of Spark the streams of this session have run."""
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(GROUP))


def test_this_process_merges_what_is_little_and_spark_what_is_more(spark: SparkSession, tmp_path: Path) -> None:
    log, engine = SegmentLog(tmp_path / "log"), open_migrated(sqlite_url(tmp_path / "store.db"))
    for bodies in islice(waves(), 4):
        fill(log, bodies)
        before = jobs_of(spark)
        stream = run_stream(spark, log, engine, tmp_path / "checkpoint", HERE_BYTES)
        stream.catch_up()
        assert has_all(engine, log)
        assert (jobs_of(spark) > before) == (len(bodies) == MANY)
        stream.stop()
    fill(log, next(waves()))
    assert stream.wait(0)
    assert not has_all(engine, log)
    engine.dispose()


@pytest.mark.parametrize("here_bytes", [0, HERE_BYTES])
def test_damage_ends_a_stream(spark: SparkSession, tmp_path: Path, here_bytes: int) -> None:
    log, engine = SegmentLog(tmp_path / "log"), open_migrated(sqlite_url(tmp_path / "store.db"))
    fill(log, next(waves()))
    (segment,) = log.directory.glob("*.log")
    damaged = bytearray(segment.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    segment.write_bytes(damaged)
    stream = run_stream(spark, log, engine, tmp_path / "checkpoint", here_bytes)
    with pytest.raises(Exception, match="fails its checksum"):
        stream.catch_up()
    with pytest.raises(Exception, match="fails its checksum"):
        stream.wait(0)
    stream.stop()
    engine.dispose()
