"""The whole pipeline: log → store, as a stream or as one batch over the log. Executors read and merge records
(`writing/merge.py`); what the new facts imply is derived after each batch.
"""

import logging
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.sources.event_log import make_source
from whence.derive.spark.metrics import BATCH_SECONDS
from whence.derive.writing.merge import merge_into
from whence.derive.writing.parallel_recompute import settle_parts
from whence.errors import LogError, LogGapError, StoreError
from whence.log import Lane, Lanes, Log, Position
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import read_progress
from whence.store.ingest.recompute import has_large_backlog, recompute
from whence.tracing import spanning

logger = logging.getLogger(__name__)


def run_stream(session: SparkSession, log: Log, engine: Engine, checkpoint: Path) -> StreamingQuery:
    """Start the stream at the store's progress. The checkpoint must be empty: only the store decides where to continue.

    Raises LogError or StoreError if the stream cannot continue there.
    """
    source = make_source(log)
    merged = source.stream(session, resume_positions(log, read_progress(engine)), merge_into(store_address(engine)))
    return (
        merged.writeStream.foreachBatch(
            lambda batch, number: run_batch(batch, engine, source.reached(_read_end_offset(checkpoint, number)))
        )
        .option("checkpointLocation", checkpoint.absolute().as_uri())
        .start()
    )


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


def resume_positions(log: Log, progress: dict[str, int]) -> Lanes:
    """The position in each lane where a stream starts. Raises StoreError if the store was derived from another log,
    LogError if the log lacks the next required position.
    """
    lanes = log.list_lanes()
    if others := progress.keys() - {lane.name for lane in lanes}:
        raise StoreError(
            f"the store was derived from another event log ({', '.join(sorted(others))}): "
            "give it an empty store, or `whence rebuild` it from this one"
        )
    since = {lane.name: _resume_position(lane, progress.get(lane.name)) for lane in lanes}
    logger.info("goes on at %s", since)
    return since


def _resume_position(lane: Lane, reached: int | None) -> Position:
    if reached is None and lane.origin and lane.origin < lane.start:
        raise LogGapError(lane.name, lane.origin, lane.start)
    if reached is None:
        return lane.start
    position = Position.from_int(reached)
    if position < lane.start:
        raise LogError(
            f"the events of lane {lane.name} from {position} to {lane.start} were deleted before the pipeline read "
            "them: `whence rebuild` the store, from the archive if there is one"
        )
    if lane.end < position:
        raise LogError(
            f"the store is ahead of {lane.name} ({position}, but the log ends at {lane.end}): the log was lost or "
            "replaced; restore it, or `whence rebuild` the store"
        )
    return position


def _read_end_offset(checkpoint: Path, batch: int) -> str:
    """The end offset of a micro-batch as Spark wrote it into the checkpoint before running the micro-batch.

    The rows do not contain it: a topic has offsets without messages.
    """
    return (checkpoint / "offsets" / str(batch)).read_text("utf-8").splitlines()[-1]
