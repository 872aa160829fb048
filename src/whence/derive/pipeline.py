"""The pipeline in one place: the log → readings → rows → store, as a stream or as a batch over the whole log."""

import logging
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.meters import BATCH_SECONDS
from whence.derive.settlement import settle_parts
from whence.derive.sink import write
from whence.derive.sources import source_of
from whence.derive.stages import STAGES
from whence.errors import LogError, LogGapError, StoreError
from whence.log import Lane, Lanes, Log, Position
from whence.store.engine import read_progress
from whence.store.settle import is_much, settle
from whence.store.vault import address_of
from whence.tracing import spanning

logger = logging.getLogger(__name__)


def derive(readings: DataFrame) -> DataFrame:
    """Rows of facts from readings: all stages, in order."""
    return reduce(lambda frame, stage: stage(frame), STAGES, readings)


def run_stream(session: SparkSession, log: Log, engine: Engine, checkpoint: Path) -> StreamingQuery:
    """Start the stream where the store is. The checkpoint is scratch and must be empty: the store alone says where to
    go on. Raises LogError or StoreError if it cannot.
    """
    source = source_of(log)
    readings = source.stream(session, where_to_go_on(log, read_progress(engine)))
    # Planned once; a micro-batch only runs it.
    written = write(derive(readings), address_of(engine))
    return (
        written.writeStream.foreachBatch(
            lambda batch, number: _settle(batch, engine, source.reached(_end(checkpoint, number)))
        )
        .option("checkpointLocation", checkpoint.absolute().as_uri())
        .start()
    )


def run_batch(readings: DataFrame, engine: Engine, reached: Lanes) -> None:
    """Derive readings into an empty store, which then has all before the positions `reached`."""
    _settle(write(derive(readings), address_of(engine)), engine, reached)


def where_to_go_on(log: Log, progress: dict[str, int]) -> Lanes:
    """Where a stream starts in each lane. Raises StoreError if the store was derived from another log, LogError if the
    log does not have what the store needs next.
    """
    lanes = log.lanes()
    if others := progress.keys() - {lane.name for lane in lanes}:
        raise StoreError(
            f"the store was derived from another event log ({', '.join(sorted(others))}): "
            "give it an empty store, or `whence rebuild` it from this one"
        )
    since = {lane.name: _since(lane, progress.get(lane.name)) for lane in lanes}
    logger.info("goes on at %s", since)
    return since


def _since(lane: Lane, reached: int | None) -> Position:
    if reached is None and lane.origin and lane.origin < lane.start:
        raise LogGapError(lane.name, lane.origin, lane.start)
    if reached is None:
        return lane.start
    position = Position.from_int(reached)
    if position < lane.start:
        raise LogError(
            f"what {lane.name} held from {position} to {lane.start} is gone before it was derived: "
            "`whence rebuild` the store, from the archive if there is one"
        )
    if lane.end < position:
        raise LogError(
            f"the store is ahead of {lane.name} ({position}, but the log ends at {lane.end}): the log was lost or made "
            "anew; restore it, or `whence rebuild` the store"
        )
    return position


def _settle(written: DataFrame, engine: Engine, reached: Lanes) -> None:
    """Write, then derive what the new facts imply: here, in one transaction, or where that is much and the store takes
    several writers, first in the executors.
    """
    with BATCH_SECONDS.time(), spanning("batch"):
        with spanning("write"):
            written.collect()
        if engine.dialect.name != "sqlite" and is_much(engine):
            with spanning("settle parts"):
                settle_parts(written.sparkSession, address_of(engine))
        with spanning("settle"):
            settle(engine, {lane: position.as_int for lane, position in reached.items()})


def _end(checkpoint: Path, batch: int) -> str:
    """Where a micro-batch ends, in the words of its source: Spark notes it before the micro-batch runs.

    The rows do not say: a topic has offsets that are no messages.
    """
    return (checkpoint / "offsets" / str(batch)).read_text("utf-8").splitlines()[-1]
