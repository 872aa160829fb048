"""Logs of both kinds, and what is in them, for the suites that hold for either."""

from collections.abc import Iterator

from confluent_kafka import Consumer, TopicPartition

from whence.log import Log, Position, Record
from whence.log.kafka.address import client_settings
from whence.log.kafka.log import KafkaLog
from whence.log.kafka.message import record_of
from whence.log.segments import read
from whence.log.segments.log import SegmentLog

KINDS = ("segments", "kafka")


def records_of(log: Log) -> list[Record]:
    """All records of a log, lane by lane."""
    match log:
        case SegmentLog():
            (lane,) = log.lanes()
            return list(read(log.directory, lane.start, lane.end))
        case KafkaLog():
            return list(_messages(log))
    raise TypeError(log)


def _messages(log: KafkaLog) -> Iterator[Record]:
    consumer = Consumer({**client_settings(log.address), "group.id": "test", "enable.auto.commit": False})
    for lane in log.lanes():
        position, end = lane.start, lane.end
        consumer.assign([TopicPartition(log.address.topic, position.segment, position.offset)])
        while position < end:
            message = consumer.poll(10)
            assert message is not None, f"nothing at {position}"
            assert message.error() is None, message.error()
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            headers = {name: value for name, value in message.headers() or () if isinstance(value, bytes)}
            yield record_of(
                Position(partition, offset), message.timestamp()[1] * 1000, message.value(), headers, log.trust
            )
            position = Position(partition, offset + 1)
    consumer.close()
