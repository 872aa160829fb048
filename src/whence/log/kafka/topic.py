"""The topic itself: found, made where there is none, and refused where it would lose events."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, TopicDescription

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, client_settings, lane_name
from whence.log.port import Lane
from whence.log.position import Position

MESSAGE_BYTES = 33 << 20
"""What the largest event that the collector takes (32 MiB) needs of a topic, headers included."""

SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",  # the log is the memory: nobody but the operator decides what may go
    "max.message.bytes": str(MESSAGE_BYTES),
}
"""Of the topics that Whence makes."""

_PASSING = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
)
"""What brokers say while they have not agreed yet."""

_PAUSE_SECONDS = 0.05

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Topic:
    """What matters of a topic: its partitions, and how many replicas of each must have a message."""

    partitions: tuple[int, ...]
    least_replicas: int


def open_topic(address: KafkaAddress) -> Topic:
    """Find the topic, or make it. Raises LogError if the brokers cannot be reached, or it would lose events."""
    description = describe(address)
    settings = _settings(address)
    if "compact" in settings.get("cleanup.policy", ""):
        raise LogError(
            f"the topic {address.topic} is compacted, so it forgets events: set its cleanup.policy to delete"
        )
    return Topic(tuple(one.id for one in description.partitions), int(settings.get("min.insync.replicas", 1)))


def describe(address: KafkaAddress) -> TopicDescription:
    """The topic as the brokers describe it; it is made if it is missing. Raises LogError."""
    try:
        return _describe(address)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise unreachable(address, error) from None
    _create(address)
    return _agreed(address, partial(_describe, address))


def lanes(address: KafkaAddress) -> tuple[Lane, ...]:
    """One lane a partition. Transactions that are not committed lie after the end. Raises LogError."""
    partitions = sorted(one.id for one in describe(address).partitions)
    starts, ends = (
        _agreed(address, partial(_offsets, address, partitions, spec))
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    return tuple(
        Lane(lane_name(address, one), Position(one, starts[one]), Position(one, ends[one])) for one in partitions
    )


def unreachable(address: KafkaAddress, error: KafkaException | KafkaError) -> LogError:
    """What went wrong, with the broker's own words."""
    cause = error.args[0] if isinstance(error, KafkaException) else error
    said = cause.str() if isinstance(cause, KafkaError) else str(cause)
    return LogError(f"the topic {address.topic} at {address.servers} cannot be used: {said}")


@cache
def _admin(address: KafkaAddress) -> AdminClient:
    # One for the process: it keeps its connections, and finds brokers again that went away.
    try:
        return AdminClient({**client_settings(address), "log_level": 0})
    except KafkaException as error:
        raise unreachable(address, error) from None


def _agreed(address: KafkaAddress, ask: Callable[[], _T]) -> _T:
    """The answer, once the brokers have told each other of a new topic or a new leader. Raises LogError."""
    give_up = time.monotonic() + address.timeout
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in _PASSING or time.monotonic() > give_up:
                raise unreachable(address, error) from None
        time.sleep(_PAUSE_SECONDS)


def _describe(address: KafkaAddress) -> TopicDescription:
    asked = _admin(address).describe_topics(TopicCollection([address.topic]), request_timeout=address.timeout)
    description: TopicDescription = asked[address.topic].result()
    return description


def _create(address: KafkaAddress) -> None:
    wanted = NewTopic(address.topic, address.partitions, address.replicas, config=SETTINGS)
    made = _admin(address).create_topics([wanted], request_timeout=address.timeout, operation_timeout=address.timeout)
    try:
        made[address.topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise LogError(
                f"there is no topic {address.topic} at {address.servers}, and it cannot be made: "
                f"{error.args[0].str()}; make it as docs/log.md says"
            ) from None


def _settings(address: KafkaAddress) -> dict[str, str]:
    """The topic's settings; none where this client may not see them."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, address.topic)
    asked = _admin(address).describe_configs([resource], request_timeout=address.timeout)
    try:
        return {name: entry.value for name, entry in asked[resource].result().items()}
    except KafkaException:
        return {}


def _offsets(address: KafkaAddress, partitions: Iterable[int], spec: OffsetSpec) -> dict[int, int]:
    wanted = {TopicPartition(address.topic, one): spec for one in partitions}
    asked = _admin(address).list_offsets(
        wanted, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=address.timeout
    )
    return {one.partition: answer.result().offset for one, answer in asked.items()}
