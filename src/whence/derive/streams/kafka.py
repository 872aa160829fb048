"""The stream over a topic of Kafka: Spark's Structured Streaming, whose source of Kafka it is."""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from whence.derive.micro_batch import run_batch
from whence.derive.sources.kafka import KafkaSource
from whence.derive.writing.merge import merge_into
from whence.log import Lanes
from whence.store.connection.data_key import store_address


@dataclass(frozen=True, slots=True)
class KafkaStream:
    """A query of Spark."""

    query: StreamingQuery

    def catch_up(self) -> None:
        """See `Stream`."""
        self.query.processAllAvailable()

    def wait(self, seconds: int) -> bool:
        """See `Stream`. Raises StreamingQueryException."""
        return bool(self.query.awaitTermination(seconds))

    def stop(self) -> None:
        """See `Stream`."""
        self.query.stop()


def start_kafka(
    session: SparkSession, source: KafkaSource, engine: Engine, since: Lanes, checkpoint: Path
) -> KafkaStream:
    """Start the query at positions. The checkpoint must be empty: only the store decides where to continue."""
    merged = source.stream(session, since, merge_into(store_address(engine)))

    def run(batch: DataFrame, number: int) -> None:
        run_batch(batch, engine, source.reached(_read_end_offset(checkpoint, number)))

    place = f"file://{checkpoint.absolute()}"
    return KafkaStream(merged.writeStream.foreachBatch(run).option("checkpointLocation", place).start())


def _read_end_offset(checkpoint: Path, batch: int) -> str:
    """The end offset of a micro-batch as Spark wrote it into the checkpoint before running the micro-batch.

    The rows do not contain it: a topic has offsets without messages.
    """
    return (checkpoint / "offsets" / str(batch)).read_text("utf-8").splitlines()[-1]
