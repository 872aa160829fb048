"""The topic: found, created if it is missing, and rejected if it would lose events."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, TopicDescription

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, lane_name, librdkafka_settings
from whence.log.kafka.broker_errors import make_topic_error
from whence.log.port import Lane
from whence.log.position import Position

MESSAGE_BYTES = 33 << 20
"""The message size that the largest accepted event (32 MiB) needs, headers included."""

SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",  # only the operator decides which events may be deleted
    "max.message.bytes": str(MESSAGE_BYTES),
}
"""The settings of topics that Whence creates."""

_TRANSIENT_ERRORS = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
)
"""Errors that brokers return while they have not agreed yet."""

_PAUSE_SECONDS = 0.05

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's partitions, and how many replicas of each must have a message."""

    partitions: tuple[int, ...]
    least_replicas: int


def open_topic(address: KafkaAddress) -> Topic:
    """Find or create the topic. Raises LogError if the brokers cannot be reached, or the topic would lose events."""
    description = describe_topic(address)
    settings = _request_settings(address)
    if "compact" in settings.get("cleanup.policy", ""):
        raise LogError(
            f"the topic {address.topic} is compacted, so Kafka deletes events from it; set its cleanup.policy to delete"
        )
    return Topic(tuple(one.id for one in description.partitions), int(settings.get("min.insync.replicas", 1)))


def describe_topic(address: KafkaAddress) -> TopicDescription:
    """The brokers' description of the topic, which is created if it is missing. Raises LogError."""
    try:
        return _request_description(address)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise make_topic_error(address, error) from None
    _create_topic(address)
    return _retry_until_agreed(address, partial(_request_description, address))


def list_lanes(address: KafkaAddress) -> tuple[Lane, ...]:
    """One lane per partition. Uncommitted transactions are after its end. Raises LogError."""
    partitions = sorted(one.id for one in describe_topic(address).partitions)
    starts, ends = (
        _retry_until_agreed(address, partial(_request_offsets, address, partitions, spec))
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    return tuple(
        Lane(lane_name(address, one), Position(one, starts[one]), Position(one, ends[one])) for one in partitions
    )


@cache
def _admin_client(address: KafkaAddress) -> AdminClient:
    # One client per process: it keeps its connections, and reconnects to brokers that return.
    try:
        return AdminClient({**librdkafka_settings(address), "log_level": 0})
    except KafkaException as error:
        raise make_topic_error(address, error) from None


def _retry_until_agreed(address: KafkaAddress, ask: Callable[[], _T]) -> _T:
    """Repeat a request until the brokers agree on a new topic or leader. Raises LogError after the timeout."""
    give_up = time.monotonic() + address.timeout
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in _TRANSIENT_ERRORS or time.monotonic() > give_up:
                raise make_topic_error(address, error) from None
        time.sleep(_PAUSE_SECONDS)


def _request_description(address: KafkaAddress) -> TopicDescription:
    descriptions = _admin_client(address).describe_topics(
        TopicCollection([address.topic]), request_timeout=address.timeout
    )
    description: TopicDescription = descriptions[address.topic].result()
    return description


def _create_topic(address: KafkaAddress) -> None:
    wanted = NewTopic(address.topic, address.partitions, address.replicas, config=SETTINGS)
    made = _admin_client(address).create_topics(
        [wanted], request_timeout=address.timeout, operation_timeout=address.timeout
    )
    try:
        made[address.topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise LogError(
                f"there is no topic {address.topic} at {address.servers}, and it cannot be made: "
                f"{error.args[0].str()}; make it as docs/reference/event-log.md says"
            ) from None


def _request_settings(address: KafkaAddress) -> dict[str, str]:
    """The topic's settings; none if this client may not read them."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, address.topic)
    configs = _admin_client(address).describe_configs([resource], request_timeout=address.timeout)
    try:
        return {name: entry.value for name, entry in configs[resource].result().items()}
    except KafkaException:
        return {}


def _request_offsets(address: KafkaAddress, partitions: Iterable[int], spec: OffsetSpec) -> dict[int, int]:
    wanted = {TopicPartition(address.topic, one): spec for one in partitions}
    offsets = _admin_client(address).list_offsets(
        wanted, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=address.timeout
    )
    return {one.partition: answer.result().offset for one, answer in offsets.items()}
