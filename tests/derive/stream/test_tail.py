"""The tail of a log: the driver merges the little that waits, Spark what is more. Nothing is lost, or merged twice."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession

from bench.workloads.events import Noise, arrivals
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from services.pipeline_process import derive, driving, has_all, until
from whence.derive.progress import write_position
from whence.derive.rebuild import rebuild
from whence.derive.sources.log import PIECE_BYTES, LogRange, LogStream
from whence.derive.tail import TAIL_BYTES, Tail
from whence.log import Position
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end
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
    assert sum(len(one.payload) for one in records_of(log)) > 2 * TAIL_BYTES
    for one in (engine, rebuilt):
        one.dispose()


def test_the_tail_is_followed_until_much_waits(tmp_path: Path) -> None:
    log = SegmentLog(tmp_path / "log")
    arriving = iter(waves())
    fill(log, next(arriving))
    ends = [committed_end(log.directory)]
    ranges: list[tuple[Position, Position]] = []

    def derive_range(since: Position, until: Position) -> None:
        ranges.append((since, until))
        fill(log, next(arriving))
        ends.append(committed_end(log.directory))

    (lane,) = log.list_lanes()
    reached = Tail(log.directory, Event()).follow(lane.start, derive_range)
    assert [until for _, until in ranges] == ends[:3]
    assert [since for since, _ in ranges] == [lane.start, *ends[:2]]
    assert (reached, len(ends)) == (ends[2], 4)


def test_the_tail_is_left_when_the_pipeline_ends(tmp_path: Path) -> None:
    log, stopping = SegmentLog(tmp_path / "log"), Event()
    fill(log, next(waves()))
    (lane,) = log.list_lanes()
    assert Tail(log.directory, stopping).follow(lane.start, lambda *_: stopping.set()) == lane.end


def test_spark_is_not_offered_what_the_driver_derived(tmp_path: Path) -> None:
    log, passed = SegmentLog(tmp_path / "log"), tmp_path / "passed"
    stream = LogStream(log.directory, 0, passed, PIECE_BYTES, 2, b"")
    bodies = [body for wave in waves() for body in wave]
    fill(log, bodies[:MANY])
    start = stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())
    fill(log, bodies[MANY:])
    derived = log.list_lanes()[0].end
    write_position(passed, derived)

    offered = stream.latestOffset(start, stream.getDefaultReadLimit())
    assert offered == {"position": derived.as_int}
    assert stream.partitions(start, offered) == [LogRange(derived.as_int, derived.as_int)]
    fill(log, bodies[:2])
    end = log.list_lanes()[0].end.as_int
    assert stream.latestOffset(offered, stream.getDefaultReadLimit()) == {"position": end}
    assert stream.partitions(offered, {"position": end}) == [LogRange(derived.as_int, end)]
