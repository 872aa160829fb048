"""The whole pipeline: log → store, as a stream or as one batch over the log. Executors read and merge records
(`writing/merge.py`); what the new facts imply is derived after each batch.
"""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.progress import read_end_offset, resume_positions
from whence.derive.sources.event_log import make_source
from whence.derive.spark.metrics import BATCH_SECONDS
from whence.derive.writing.merge import merge_into
from whence.derive.writing.parallel_recompute import settle_parts
from whence.log import Lanes, Log
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import read_progress
from whence.store.ingest.recompute import has_large_backlog, recompute
from whence.tracing import spanning


def run_stream(session: SparkSession, log: Log, engine: Engine, checkpoint: Path) -> StreamingQuery:
    """Start the stream at the store's progress. The checkpoint must be empty: only the store decides where to continue.

    Raises LogError or StoreError if the stream cannot continue there.
    """
    source = make_source(log)
    merged = source.stream(session, resume_positions(log, read_progress(engine)), merge_into(store_address(engine)))
    return (
        merged.writeStream.foreachBatch(
            lambda batch, number: run_batch(batch, engine, source.reached(read_end_offset(checkpoint, number)))
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
