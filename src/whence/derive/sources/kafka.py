"""A Kafka topic as a source of the pipeline, through Spark's Kafka source: streams and batches of messages."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.reading.transform import Transform
from whence.log import Lane, Lanes, Position, Record
from whence.log.kafka.address import KafkaAddress, java_settings, lane_name
from whence.log.kafka.message import EVENT, KIND, SIGNATURE, decode_message
from whence.log.kafka.trusted_senders import NOBODY, Trust

BATCH_RECORDS = 4_000
"""The maximum records per micro-batch: about 32 MB of typical events."""

USUAL_BYTES = 8_000
"""The assumed size of an event, because a topic only reports offsets."""

FETCH_BYTES = 8 << 20
"""The maximum bytes that a reader requests of one partition at a time. A larger message still arrives, alone."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """A topic, and the trust in the senders of its messages."""

    address: KafkaAddress
    trust: Trust = NOBODY

    def stream(self, session: SparkSession, since: Lanes, transform: Transform) -> DataFrame:
        """What a transform returns for the messages from these positions on, as they arrive. Partitions that are added
        to the topic later are read from their beginning.
        """
        # An idle stream polls the brokers this often; by default it would a hundred times a second.
        session.conf.set("spark.sql.streaming.pollingDelay", "100ms")
        start = {"startingOffsets": _offsets(self.address, since), "maxOffsetsPerTrigger": str(BATCH_RECORDS)}
        source = session.readStream.format("kafka").options(**_options(self.address), **start).load()
        return transform_messages(select_messages(source), transform, self.trust)

    def batch(
        self, session: SparkSession, lanes: Sequence[Lane], transform: Transform, task_bytes: int = 0
    ) -> DataFrame:
        """See `Source`."""
        return transform_messages(read_messages(session, self.address, lanes), transform, self.trust)

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        """See `Source`."""
        step = max(1, size // (USUAL_BYTES * len(lanes)))
        while any(lane.start < lane.end for lane in lanes):
            # Spark requires offsets for every partition, empty ones too.
            ends = [min(lane.end, Position(lane.end.segment, lane.start.offset + step)) for lane in lanes]
            yield tuple(Lane(lane.name, lane.start, end) for lane, end in zip(lanes, ends, strict=True))
            lanes = [Lane(lane.name, end, lane.end) for lane, end in zip(lanes, ends, strict=True)]

    def reached(self, end: str) -> Lanes:
        """The progress of a store that has all messages before an offset, in Spark's form."""
        offsets = json.loads(end)[self.address.topic]
        positions = [Position(int(partition), offset) for partition, offset in offsets.items()]
        return {lane_name(self.address, position.segment): position for position in positions}


def read_messages(session: SparkSession, address: KafkaAddress, lanes: Sequence[Lane]) -> DataFrame:
    """All messages in these lanes of the topic."""
    bounds = {
        "startingOffsets": _offsets(address, {lane.name: lane.start for lane in lanes}),
        "endingOffsets": _offsets(address, {lane.name: lane.end for lane in lanes}),
    }
    return select_messages(session.read.format("kafka").options(**_options(address), **bounds).load())


def select_messages(source: DataFrame) -> DataFrame:
    """The required columns of messages. Headers are most of a small message and are only needed for rejected bodies and
    receipts.
    """
    kind, signature = _header(KIND), _header(SIGNATURE)
    is_plain = kind.isNull() | (kind == f.lit(EVENT))
    return source.select(
        "partition",
        "offset",
        f.unix_millis("timestamp").alias("timestamp"),
        f.when(~is_plain, f.col("headers")).alias("headers"),
        signature.alias("signature"),
        "value",
    )


def _header(name: str) -> Column:
    """The first header of this name."""
    return f.try_element_at(f.filter("headers", lambda one: one["key"] == name), f.lit(1))["value"]


def transform_messages(messages: DataFrame, transform: Transform, trust: Trust = NOBODY) -> DataFrame:
    """What a transform returns for the records in messages, in one pass through Python. Executors get the trust too."""
    return messages.mapInArrow(partial(_transform, transform, trust), from_arrow_schema(transform.schema))


def _options(address: KafkaAddress) -> dict[str, str]:
    clients = {f"kafka.{name}": value for name, value in java_settings(address).items()}
    return {
        **clients,
        "subscribe": address.topic,
        "includeHeaders": "true",
        # Missing offsets end the stream: otherwise the store would lack their records.
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_committed",
        # Waiting for messages at the end of a partition delays the next micro-batch.
        "kafka.fetch.max.wait.ms": "20",
        "kafka.max.partition.fetch.bytes": str(FETCH_BYTES),
        "groupIdPrefix": "whence",
    }


def _offsets(address: KafkaAddress, lanes: Lanes) -> str:
    return json.dumps({address.topic: {str(position.segment): position.offset for position in lanes.values()}})


def _transform(transform: Transform, trust: Trust, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return transform.run(record for batch in batches for record in _records(trust, batch))


def _records(trust: Trust, batch: pa.RecordBatch) -> Iterator[Record]:
    for partition, offset, timestamp, headers, signature, value in zip(
        *(column.to_pylist() for column in batch.columns), strict=True
    ):
        trusted_headers = {column["key"]: column["value"] or b"" for column in headers or ()}
        trusted_headers[SIGNATURE] = signature or b""
        yield decode_message(Position(partition, offset), timestamp or 0, value, trusted_headers, trust)
