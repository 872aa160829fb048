"""A Kafka topic as an event log."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, lane_name, librdkafka_settings, parse_address
from whence.log.kafka.broker_errors import make_topic_error
from whence.log.kafka.message import decode_message
from whence.log.kafka.topic import list_lanes
from whence.log.kafka.trusted_senders import Trust
from whence.log.kafka.write import KafkaWriter
from whence.log.port import Amount, Lane, Lanes, Seal
from whence.log.position import Position
from whence.log.record import Kind, Record


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """A log in a topic; each partition is a lane."""

    address: KafkaAddress
    secret: bytes = field(default=b"", repr=False)
    """The secret that signs the collector's messages. Without it, no message counts as the collector's."""

    @classmethod
    def at(cls, text: str, secret: Callable[[], bytes] | None = None) -> "KafkaLog":
        """The log at an address (`kafka.address`). Raises LogError, and whatever `secret` raises."""
        return cls(parse_address(text), secret() if secret else b"")

    @property
    def trust(self) -> Trust:
        """The rules that judge the senders of messages."""
        return Trust(self.secret, self.address.trusted)

    def list_lanes(self) -> tuple[Lane, ...]:
        return list_lanes(self.address)

    def lane_of(self, position: Position) -> str:
        return lane_name(self.address, position.segment)

    def oldest_received_at(self, since: Lanes) -> int | None:
        begins = [(max(since.get(lane.name, lane.start), lane.start), lane.end) for lane in self.list_lanes()]
        waiting = [begin for begin, end in begins if begin < end]
        return min(_first_received_at(self.address, waiting), default=None)

    def count_before(self, before: Lanes) -> Amount:
        # Offsets count from 0, regardless of records that retention deleted.
        return Amount(sum(position.offset for position in before.values()), None)

    def list_positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        held = next((one for one in self.list_lanes() if one.start.segment == since.segment), None)
        if held is None:
            return ()
        low, high = max(since, held.start).offset, min(before, held.end).offset
        return [Position(since.segment, offset) for offset in range(low, min(high, low + most))]

    def read_records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        lanes_ = {lane.start.segment: lane for lane in self.list_lanes()}
        held = [one for one in positions if one.segment in lanes_ and _is_in_lane(lanes_[one.segment], one)]
        found = _read_at(self, sorted(set(held)))
        return [found.get(one) for one in positions]

    def scan_records(self, since: Position, before: Position) -> Iterator[Record]:
        return _read_range(self, since, before, lambda _: True)

    def find_events(self, text: bytes, since: Position, before: Position) -> Iterator[Record]:
        found = _read_range(self, since, before, lambda value: text in value)
        return (one for one in found if one.kind is Kind.EVENT)

    def select_existing(self, positions: Sequence[Position]) -> Sequence[Position]:
        found = _read_at(self, positions)
        return [one for one in positions if one in found]

    def list_seals(self) -> Sequence[Seal]:
        return ()  # brokers repair their replicas themselves

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        return ()

    def prevent_deletion(self) -> AbstractContextManager[None]:
        return nullcontext()  # the topic's settings decide what brokers keep

    def open_writer(self) -> KafkaWriter:
        return KafkaWriter(self.address, self.trust)


def _is_in_lane(lane: Lane, position: Position) -> bool:
    return lane.start <= position < lane.end


def _read_at(log: KafkaLog, positions: Sequence[Position]) -> dict[Position, Record]:
    """The records at these positions, read one after the other over one connection."""
    if not positions:
        return {}
    address, trust = log.address, log.trust
    found: dict[Position, Record] = {}
    with _open_consumer(address, fetch_bytes=1 << 20) as consumer:
        for one in positions:
            consumer.assign([TopicPartition(address.topic, one.segment, one.offset)])
            message = consumer.poll(address.timeout)
            if message is None:
                raise LogError(f"the topic {address.topic} at {address.servers} cannot be read: no answer")
            if (error := message.error()) and error.code() != KafkaError._PARTITION_EOF:
                raise make_topic_error(address, error)
            if not error and message.offset() == one.offset:  # otherwise no record is there
                found[one] = _decode_record(one, message, trust)
    return found


def _read_range(log: KafkaLog, since: Position, before: Position, wanted: Callable[[bytes], bool]) -> Iterator[Record]:
    """The records of one partition in [since, before) whose value `wanted` accepts."""
    address, partition = log.address, since.segment
    if since >= before:
        return
    with _open_consumer(address, fetch_bytes=1 << 20) as consumer:
        consumer.assign([TopicPartition(address.topic, partition, since.offset)])
        while True:
            message = consumer.poll(address.timeout)
            if message is None:
                raise LogError(f"the topic {address.topic} at {address.servers} cannot be read: no answer")
            if error := message.error():
                if error.code() == KafkaError._PARTITION_EOF:
                    return
                raise make_topic_error(address, error)
            offset = message.offset()
            assert offset is not None
            if offset < before.offset and wanted(message.value() or b""):
                yield _decode_record(Position(partition, offset), message, log.trust)
            if offset + 1 >= before.offset:
                return


def _decode_record(at: Position, message: Message, trust: Trust) -> Record:
    pairs: list[Any] = list(message.headers() or ())
    headers = {key: value for key, value in pairs if isinstance(value, bytes)}
    return decode_message(at, message.timestamp()[1], message.value(), headers, trust)


def _first_received_at(address: KafkaAddress, positions: Sequence[Position]) -> list[int]:
    """When the first message at or after each position was received (µs); nothing for a partition without one."""
    if not positions:
        return []
    with _open_consumer(address, fetch_bytes=1) as consumer:
        consumer.assign([TopicPartition(address.topic, one.segment, one.offset) for one in positions])
        return _poll_first_times(consumer, address, {one.segment for one in positions})


@contextmanager
def _open_consumer(address: KafkaAddress, fetch_bytes: int) -> Iterator[Consumer]:
    settings = {
        **librdkafka_settings(address),
        "group.id": "whence",  # required, but no group is joined: partitions are assigned
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.message.max.bytes": fetch_bytes,
        "fetch.wait.max.ms": 1,  # where nothing is, nothing is waited for
        "log_level": 0,
    }
    try:
        consumer = Consumer(settings)
    except KafkaException as error:
        raise make_topic_error(address, error) from None
    try:
        yield consumer
    finally:
        consumer.close()


def _poll_first_times(consumer: Consumer, address: KafkaAddress, partitions: set[int]) -> list[int]:
    found: list[int] = []
    while partitions:
        message = consumer.poll(address.timeout)
        if message is None:
            raise LogError(f"the topic {address.topic} at {address.servers} cannot be read: no answer")
        error = message.error()
        if error and error.code() != KafkaError._PARTITION_EOF:
            raise make_topic_error(address, error)
        if message.partition() in partitions:
            partitions.discard(message.partition())
            found += [] if error else [message.timestamp()[1] * 1000]
    return found
