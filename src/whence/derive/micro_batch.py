"""A micro-batch: records are merged into the store, then what the new facts imply is derived.

Repeating one, or a part of it, changes nothing.
"""

from pathlib import Path

from pyspark.sql import DataFrame
from sqlalchemy import Engine

from whence.derive.spark.metrics import BATCH_SECONDS
from whence.derive.writing.merge import merge_records
from whence.derive.writing.parallel_recompute import settle_parts
from whence.log import Lanes, Position
from whence.log.segments.log import LANE
from whence.log.segments.read import read_records
from whence.store.connection.data_key import store_address
from whence.store.ingest.recompute import has_large_backlog, recompute
from whence.tracing import spanning


def run_batch(merged: DataFrame, engine: Engine, reached: Lanes) -> None:
    """Run a frame that merges records (`merge_into`), then derive what the new facts imply: here in one transaction or,
    if there is much of it and the store accepts several writers, first in the executors. The store's progress is then
    `reached`.
    """
    with BATCH_SECONDS.time(), spanning("batch"):
        with spanning("write"):
            merged.collect()  # it has no rows
        if engine.dialect.name != "sqlite" and has_large_backlog(engine):
            with spanning("settle parts"):
                settle_parts(merged.sparkSession, store_address(engine))
        with spanning("settle"):
            recompute(engine, {lane: position.as_int for lane, position in reached.items()})


def run_here(directory: Path, engine: Engine, since: Position, until: Position) -> None:
    """Do in this process what a micro-batch does, with the records of a log in segments between two positions."""
    with BATCH_SECONDS.time(), spanning("batch"):
        with spanning("write"):
            merge_records(engine, read_records(directory, since, until))
        with spanning("settle"):
            recompute(engine, {LANE: until.as_int})
