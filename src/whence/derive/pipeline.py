"""The pipeline in one place: the log → readings → rows → store, as a stream or as a batch over the whole log."""

from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.sink import write
from whence.derive.source import FORMAT
from whence.derive.stages import STAGES
from whence.log import committed, start
from whence.store.engine import read_progress
from whence.store.settle import settle

BATCH_BYTES = 32 * 2**20
"""The most that one micro-batch reads from the log."""


def derive(readings: DataFrame) -> DataFrame:
    """Rows of facts from readings: all stages, in order."""
    return reduce(lambda frame, stage: stage(frame), STAGES, readings)


def run_stream(session: SparkSession, log: Path, engine: Engine, checkpoint: Path) -> StreamingQuery:
    """Start the stream where the store is. The checkpoint is scratch and must be empty: the store alone says where to
    go on.
    """
    # The last record in the tables is read once more: its position is a record boundary, its merge changes nothing.
    since = max(read_progress(engine) - 1, 0)
    readings = session.readStream.format(FORMAT).options(path=str(log), since=since, batchBytes=BATCH_BYTES).load()
    # Planned once; a micro-batch only runs it.
    written = write(derive(readings), _url(engine))
    return (
        written.writeStream.foreachBatch(lambda batch, _: _settle(batch, engine))
        .option("checkpointLocation", str(checkpoint))
        .start()
    )


def run_batch(session: SparkSession, log: Path, engine: Engine) -> None:
    """Derive the whole log, as far as it is durable now, into an empty store."""
    bounds = {"since": start(log).as_int, "until": committed(log).as_int}
    readings = session.read.format(FORMAT).options(path=str(log), **bounds).load()
    _settle(write(derive(readings), _url(engine)), engine)


def _settle(written: DataFrame, engine: Engine) -> None:
    """Write (the pipeline's one action: it collects a position per chunk), then derive what the new facts imply."""
    last = max((row.position for row in written.collect()), default=None)
    if last is not None:
        settle(engine, last + 1)


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)
