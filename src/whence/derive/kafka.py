"""A Kafka topic as the pipeline reads it, by Spark's Kafka source: streams and batches of messages, and what is read
in them.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from whence.derive.read import read_batches
from whence.derive.records import RECORD_SCHEMA, to_batch
from whence.derive.schema import READING_SCHEMA
from whence.log import Lane, Lanes, Position, Record
from whence.log.kafka.address import KafkaAddress, java_settings, lane_name
from whence.log.kafka.message import EVENT, KIND, SIGNATURE, record_of
from whence.log.kafka.trust import NOBODY, Trust

BATCH_RECORDS = 4_000
"""The most that one micro-batch reads of the topic: about 32 MB of usual events."""

USUAL_BYTES = 8_000
"""Of an event: a topic tells offsets only."""

FETCH_BYTES = 8 << 20
"""The most that a reader asks of one partition at a time. A larger message comes nevertheless, alone."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """A topic, and how the senders of its messages are judged."""

    address: KafkaAddress
    trust: Trust = NOBODY

    def stream(self, session: SparkSession, since: Lanes) -> DataFrame:
        """Partitions that are added to the topic later are read from their beginning."""
        # An idle stream asks the brokers for news this often; unasked, it would a hundred times a second.
        session.conf.set("spark.sql.streaming.pollingDelay", "100ms")
        start = {"startingOffsets": _offsets(self.address, since), "maxOffsetsPerTrigger": str(BATCH_RECORDS)}
        source = session.readStream.format("kafka").options(**_options(self.address), **start).load()
        return readings_of(messages(source), self.trust)

    def batch(self, session: SparkSession, lanes: Sequence[Lane]) -> DataFrame:
        return readings_of(read_messages(session, self.address, lanes), self.trust)

    def records(self, session: SparkSession, lanes: Sequence[Lane], task_bytes: int) -> DataFrame:
        return records_of(read_messages(session, self.address, lanes), self.trust)

    def cut(self, lanes: Sequence[Lane], size: int) -> Iterator[tuple[Lane, ...]]:
        step = max(1, size // (USUAL_BYTES * len(lanes)))
        while any(lane.start < lane.end for lane in lanes):
            # Spark wants to be told of every partition, those without anything too.
            ends = [min(lane.end, Position(lane.end.segment, lane.start.offset + step)) for lane in lanes]
            yield tuple(Lane(lane.name, lane.start, end) for lane, end in zip(lanes, ends, strict=True))
            lanes = [Lane(lane.name, end, lane.end) for lane, end in zip(lanes, ends, strict=True)]

    def reached(self, end: str) -> Lanes:
        offsets = json.loads(end)[self.address.topic]
        positions = [Position(int(partition), offset) for partition, offset in offsets.items()]
        return {lane_name(self.address, one.segment): one for one in positions}


def read_messages(session: SparkSession, address: KafkaAddress, lanes: Sequence[Lane]) -> DataFrame:
    """All messages that are in these lanes of the topic."""
    bounds = {
        "startingOffsets": _offsets(address, {lane.name: lane.start for lane in lanes}),
        "endingOffsets": _offsets(address, {lane.name: lane.end for lane in lanes}),
    }
    return messages(session.read.format("kafka").options(**_options(address), **bounds).load())


def messages(source: DataFrame) -> DataFrame:
    """What is needed of a message. Headers are most of a small one, and matter for refused bodies and receipts only."""
    kind, signature = _header(KIND), _header(SIGNATURE)
    is_plain = kind.isNull() | (kind == f.lit(EVENT))
    return source.select(
        "partition",
        "offset",
        f.unix_micros("timestamp").alias("received_at"),
        f.when(~is_plain, f.col("headers")).alias("headers"),
        signature.alias("signature"),
        "value",
    )


def _header(name: str) -> Column:
    """The first header of this name."""
    return f.try_element_at(f.filter("headers", lambda one: one["key"] == name), f.lit(1))["value"]


def readings_of(messages: DataFrame, trust: Trust = NOBODY) -> DataFrame:
    """What is read in messages (`schema.READING_SCHEMA`), in one hop to Python. Executors get the trust with it."""
    return messages.mapInArrow(partial(_read, trust), from_arrow_schema(READING_SCHEMA))


def records_of(messages: DataFrame, trust: Trust = NOBODY) -> DataFrame:
    """The records in messages (`records.RECORD_SCHEMA`), as an archive keeps them."""
    return messages.mapInArrow(partial(_record, trust), from_arrow_schema(RECORD_SCHEMA))


def _options(address: KafkaAddress) -> dict[str, str]:
    clients = {f"kafka.{name}": value for name, value in java_settings(address).items()}
    return {
        **clients,
        "subscribe": address.topic,
        "includeHeaders": "true",
        # Offsets that are not there any more end the stream: what they held would be missing from the store.
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_committed",
        # A look ahead at the end of a partition holds up the next micro-batch for as long as it waits.
        "kafka.fetch.max.wait.ms": "20",
        "kafka.max.partition.fetch.bytes": str(FETCH_BYTES),
        "groupIdPrefix": "whence",
    }


def _offsets(address: KafkaAddress, lanes: Lanes) -> str:
    return json.dumps({address.topic: {str(one.segment): one.offset for one in lanes.values()}})


def _read(trust: Trust, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return read_batches(record for batch in batches for record in _records(trust, batch))


def _record(trust: Trust, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield to_batch(_records(trust, batch))


def _records(trust: Trust, batch: pa.RecordBatch) -> Iterator[Record]:
    for partition, offset, received_at, headers, signature, value in zip(
        *(one.to_pylist() for one in batch.columns), strict=True
    ):
        said = {one["key"]: one["value"] or b"" for one in headers or ()}
        said[SIGNATURE] = signature or b""
        yield record_of(Position(partition, offset), received_at or 0, value, said, trust)
