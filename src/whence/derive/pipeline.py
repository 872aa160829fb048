"""The whole pipeline: log → store, as a stream or as one batch over the log. Executors read and merge records
(`writing/merge.py`); what the new facts imply is derived after each batch.
"""

from functools import partial
from pathlib import Path
from threading import Event

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.progress import read_end_offset, resume_positions, write_position
from whence.derive.sources.event_log import make_source
from whence.derive.spark.metrics import BATCH_SECONDS
from whence.derive.spark.planners import end_planners
from whence.derive.tail import Tail
from whence.derive.writing.merge import merge_into, merge_records
from whence.derive.writing.parallel_recompute import settle_parts
from whence.log import Lanes, Log, Position
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.read import read_records
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import read_progress
from whence.store.ingest.recompute import has_large_backlog, recompute
from whence.tracing import spanning


def run_stream(
    session: SparkSession, log: Log, engine: Engine, checkpoint: Path, stopping: Event | None = None
) -> StreamingQuery:
    """Start the stream at the store's progress. The checkpoint must be empty: only the store decides where to continue.

    With `stopping`, the driver follows the tail of a log in segments after each micro-batch, until that is set: set it
    before the stream is stopped. Raises LogError or StoreError if the stream cannot continue there.
    """
    source = make_source(log)
    passed = checkpoint.with_name(f"{checkpoint.name}-passed")
    transform = merge_into(store_address(engine))
    merged = source.stream(session, resume_positions(log, read_progress(engine)), transform, passed)
    tail = Tail(log.directory, stopping) if stopping and isinstance(log, SegmentLog) else None

    def run(batch: DataFrame, number: int) -> None:
        reached = source.reached(read_end_offset(checkpoint, number))
        run_batch(batch, engine, reached)
        if tail:
            if number == 0:
                end_planners(session)
            end = tail.follow(reached[LANE], partial(_derive_range, tail.directory, engine))
            write_position(passed, end)

    return merged.writeStream.foreachBatch(run).option("checkpointLocation", f"file://{checkpoint.absolute()}").start()


def _derive_range(directory: Path, engine: Engine, since: Position, until: Position) -> None:
    """Do in this process what a micro-batch does."""
    with BATCH_SECONDS.time(), spanning("batch"):
        with spanning("write"):
            merge_records(engine, read_records(directory, since, until))
        with spanning("settle"):
            recompute(engine, {LANE: until.as_int})


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
