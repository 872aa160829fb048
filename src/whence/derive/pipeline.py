"""The pipeline as a stream: what arrives in the log, of either kind, is derived into the store."""

from pathlib import Path

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.progress import resume_positions
from whence.derive.streams.segments import SegmentStream
from whence.derive.streams.stream import Stream
from whence.log import Log
from whence.log.segments.log import LANE, SegmentLog
from whence.store.connection.engine import read_progress


def run_stream(session: SparkSession, log: Log, engine: Engine, checkpoint: Path, here_bytes: int = 0) -> Stream:
    """Start the stream at the store's progress. The checkpoint, which a topic needs, must be empty.

    Of a log in segments, this process merges what is less than `here_bytes` itself. Raises LogError or StoreError if
    the stream cannot continue there.
    """
    since = resume_positions(log, read_progress(engine))
    if isinstance(log, SegmentLog):
        return SegmentStream(session, log.directory, engine, since[LANE], here_bytes).start()
    # Imported only if used: the client library costs memory and time.
    from whence.derive.sources.kafka import KafkaSource
    from whence.derive.streams.kafka import start_kafka
    from whence.log.kafka.log import KafkaLog

    assert isinstance(log, KafkaLog)
    return start_kafka(session, KafkaSource(log.address, log.trust), engine, since, checkpoint)
