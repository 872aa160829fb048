"""Logs of many days, and stores that were derived from them, for retention and backup."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from bench.workloads.events import Noise, arrivals
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from whence.derive.micro_batch import run_batch
from whence.derive.sources.event_log import make_source
from whence.derive.writing.merge import merge_into
from whence.log import Lane, Position
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentSettings
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import read_progress

NOISE = Noise(duplicates=0.05, late=0.05, malformed=0.01)
DAY = 86_400_000_000
FIRST_DAY = 1_767_225_600_000_000
"""Midnight of the day on which the events begin (µs)."""


def bodies(count: int, jobs: int, seed: int = 5) -> list[bytes]:
    """What arrives at a collector, in this order: about 2.2 events for each job and day."""
    return [one.body for one in islice(arrivals(seed=seed, jobs=jobs, days=10_000, noise=NOISE), count)]


def log_of(directory: Path, some: Sequence[bytes]) -> SegmentLog:
    """A log with these bodies."""
    log = SegmentLog(directory, SegmentSettings(segment_bytes=2 << 20))
    fill(log, some)
    return log


@contextmanager
def opened(store_url: str) -> Iterator[Engine]:
    """A store, closed at the end."""
    engine = open_migrated(store_url)
    yield engine
    engine.dispose()


def derive(spark: SparkSession, log: SegmentLog, engine: Engine) -> None:
    """Bring into the store what the log has beyond it."""
    reached = read_progress(engine)
    lanes = [
        Lane(one.name, Position.from_int(reached.get(one.name, one.start.as_int)), one.end) for one in log.list_lanes()
    ]
    merged = make_source(log).batch(spark, lanes, merge_into(store_address(engine)))
    run_batch(merged, engine, {lane.name: lane.end for lane in lanes})
