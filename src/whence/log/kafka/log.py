"""A Kafka topic as an event log."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, client_settings, lane_name, parse_address
from whence.log.kafka.message import record_of
from whence.log.kafka.topic import lanes, unreachable
from whence.log.kafka.trust import Trust
from whence.log.kafka.write import KafkaWriter
from whence.log.port import Amount, Lane, Lanes, Seal
from whence.log.position import Position
from whence.log.record import Record


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """The log in a topic; each partition is a lane."""

    address: KafkaAddress
    secret: bytes = field(default=b"", repr=False)
    """What the collector's messages are signed with; without it, no message is known to be the collector's."""

    @classmethod
    def at(cls, text: str, secret: Callable[[], bytes] | None = None) -> "KafkaLog":
        """The log at an address (`kafka.address`). Raises LogError, and what `secret` raises."""
        return cls(parse_address(text), secret() if secret else b"")

    @property
    def trust(self) -> Trust:
        """How the senders of messages are judged."""
        return Trust(self.secret, self.address.trusted)

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

    def positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        held = next((one for one in self.lanes() if one.start.segment == since.segment), None)
        if held is None:
            return ()
        low, high = max(since, held.start).offset, min(before, held.end).offset
        return [Position(since.segment, offset) for offset in range(low, min(high, low + most))]

    def records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        lanes_ = {lane.start.segment: lane for lane in self.lanes()}
        held = [one for one in positions if one.segment in lanes_ and _is_in(lanes_[one.segment], one)]
        found = _read_each(self, sorted(set(held)))
        return [found.get(one) for one in positions]

    def present(self, positions: Sequence[Position]) -> Sequence[Position]:
        found = _read_each(self, positions)
        return [one for one in positions if one in found]

    def seals(self) -> Sequence[Seal]:
        return ()  # the brokers repair their replicas

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        return ()

    def retained(self) -> AbstractContextManager[None]:
        return nullcontext()  # what the brokers keep is for the topic's settings to say

    def open_writer(self) -> KafkaWriter:
        return KafkaWriter(self.address, self.trust)


def _is_in(lane: Lane, position: Position) -> bool:
    return lane.start <= position < lane.end


def _read_each(log: KafkaLog, positions: Sequence[Position]) -> dict[Position, Record]:
    """The records at these offsets, one after the other over one connection."""
    if not positions:
        return {}
    address, trust = log.address, log.trust
    found: dict[Position, Record] = {}
    with _consumer(address, fetch_bytes=1 << 20) as consumer:
        for one in positions:
            consumer.assign([TopicPartition(address.topic, one.segment, one.offset)])
            message = consumer.poll(address.timeout)
            if message is None:
                raise LogError(f"the topic {address.topic} at {address.servers} cannot be read: no answer")
            if (error := message.error()) and error.code() != KafkaError._PARTITION_EOF:
                raise unreachable(address, error)
            if not error and message.offset() == one.offset:  # else it is no record
                said: list[Any] = list(message.headers() or ())
                headers = {key: value for key, value in said if isinstance(value, bytes)}
                found[one] = record_of(one, message.timestamp()[1] * 1000, message.value(), headers, trust)
    return found


def _received_at(address: KafkaAddress, positions: Sequence[Position]) -> list[int]:
    """When the first messages at or after these positions were received (µs); of a partition without one, nothing."""
    if not positions:
        return []
    with _consumer(address, fetch_bytes=1) as consumer:
        consumer.assign([TopicPartition(address.topic, one.segment, one.offset) for one in positions])
        return _first_of_each(consumer, address, {one.segment for one in positions})


@contextmanager
def _consumer(address: KafkaAddress, fetch_bytes: int) -> Iterator[Consumer]:
    settings = {
        **client_settings(address),
        "group.id": "whence",  # asked for, but no group is joined: the partitions are assigned
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.message.max.bytes": fetch_bytes,
        "log_level": 0,
    }
    try:
        consumer = Consumer(settings)
    except KafkaException as error:
        raise unreachable(address, error) from None
    try:
        yield consumer
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
