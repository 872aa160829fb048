"""Logs of many days, and stores that were derived from them, for retention and backup."""

from itertools import islice

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from bench.events import Noise, arrivals
from filling import fill
from whence.derive.pipeline import run_batch
from whence.log import Lane, Log
from whence.store.engine import open_store, read_progress
from whence.store.migrate import migrate

NOISE = Noise(duplicates=0.05, late=0.05, malformed=0.01)


def bodies(count: int, jobs: int, days: int) -> list[bytes]:
    """What arrives at a collector, as it arrives."""
    return [one.body for one in islice(arrivals(seed=5, jobs=jobs, days=days, noise=NOISE), count)]


def derive(spark: SparkSession, log: Log, store_url: str) -> Engine:
    """A store with all that a log has beyond what the store knows."""
    engine = open_store(store_url)
    migrate(engine)
    reached = read_progress(engine)
    since = {name: type(lane_end).from_int(reached[name]) for name, lane_end in _ends(log).items() if name in reached}
    run_batch(spark, log, engine, [Lane(one.name, since.get(one.name, one.start), one.end) for one in log.lanes()])
    return engine
