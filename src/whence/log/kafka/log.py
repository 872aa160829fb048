"""A Kafka topic as an event log."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, client_settings, lane_name, parse_address
from whence.log.kafka.topic import lanes, unreachable
from whence.log.kafka.write import KafkaWriter
from whence.log.port import Amount, Lane, Lanes
from whence.log.position import Position


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """The log in a topic; each partition is a lane."""

    address: KafkaAddress

    @classmethod
    def at(cls, text: str) -> "KafkaLog":
        """The log at an address (`kafka.address`). Raises LogError."""
        return cls(parse_address(text))

    def lanes(self) -> tuple[Lane, ...]:
        return lanes(self.address)

    def lane_of(self, position: Position) -> str:
        return lane_name(self.address, position.segment)

    def oldest(self, since: Lanes) -> int | None:
        begins = [(max(since.get(lane.name, lane.start), lane.start), lane.end) for lane in self.lanes()]
        waiting = [begin for begin, end in begins if begin < end]
        return min(_received_at(self.address, waiting), default=None)

    def amount(self, before: Lanes) -> Amount:
        # Offsets count from 0, whatever retention has taken since.
        return Amount(sum(position.offset for position in before.values()), None)

    def retained(self) -> AbstractContextManager[None]:
        return nullcontext()  # what the brokers keep is for the topic's settings to say

    def open_writer(self) -> KafkaWriter:
        return KafkaWriter(self.address)


def _received_at(address: KafkaAddress, positions: Sequence[Position]) -> list[int]:
    """When the first messages at or after these positions were received (µs); of a partition without one, nothing."""
    if not positions:
        return []
    settings = {
        **client_settings(address),
        "group.id": "whence",  # asked for, but no group is joined: the partitions are assigned
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.message.max.bytes": 1,
        "log_level": 0,
    }
    try:
        consumer = Consumer(settings)
    except KafkaException as error:
        raise unreachable(address, error) from None
    try:
        consumer.assign([TopicPartition(address.topic, one.segment, one.offset) for one in positions])
        return _first_of_each(consumer, address, {one.segment for one in positions})
    finally:
        consumer.close()


def _first_of_each(consumer: Consumer, address: KafkaAddress, partitions: set[int]) -> list[int]:
    found: list[int] = []
    while partitions:
        message = consumer.poll(address.timeout)
        if message is None:
            raise LogError(f"the topic {address.topic} at {address.servers} cannot be read: no answer")
        error = message.error()
        if error and error.code() != KafkaError._PARTITION_EOF:
            raise unreachable(address, error)
        if message.partition() in partitions:
            partitions.discard(message.partition())
            found += [] if error else [message.timestamp()[1] * 1000]
    return found
