"""Writing to a real broker: topics, sizes, logins, and brokers that go away."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from msgspec.structs import replace

from fixtures.both_logs import records_of
from log.test_both_logs import append, by_position, event, refused
from services.kafka_broker import PASSWORD, USER, KafkaBroker
from whence.errors import LogError
from whence.log import Kind
from whence.log.address import open_log
from whence.log.group_commit import GroupCommit
from whence.log.kafka.log import KafkaLog
from whence.log.kafka.write import KEPT_BYTES

PATIENCE_SECONDS = 2.0
"""How long a writer of these tests waits for a broker."""


@pytest.fixture
def hurried(kafka_broker: KafkaBroker) -> Iterator[KafkaLog]:
    """A log whose clients wait for the broker briefly. The broker runs again after the test."""
    log = open_log(kafka_broker.new_topic(partitions=2, timeout=PATIENCE_SECONDS))
    assert isinstance(log, KafkaLog)
    yield log
    if kafka_broker.process is None:
        kafka_broker.start()


def made(broker: KafkaBroker, **settings: str) -> KafkaLog:
    """A log in a topic that an operator made."""
    name = f"made{uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": broker.servers})
    config = {"retention.ms": "-1"} | {key.replace("_", "."): value for key, value in settings.items()}
    admin.create_topics([NewTopic(name, 1, 1, config=config)])[name].result(20)
    log = open_log(f"kafka://{broker.servers}/{name}")
    assert isinstance(log, KafkaLog)
    return log


def settings_of(log: KafkaLog) -> dict[str, str]:
    resource = ConfigResource(ConfigResource.Type.TOPIC, log.address.topic)
    admin = AdminClient({"bootstrap.servers": log.address.servers})
    return {name: entry.value for name, entry in admin.describe_configs([resource])[resource].result(20).items()}


def test_a_topic_is_made_for_the_memory_it_is(kafka_broker: KafkaBroker) -> None:
    log = open_log(kafka_broker.new_topic(partitions=4))
    assert isinstance(log, KafkaLog)
    assert len(log.list_lanes()) == 4
    settings = settings_of(log)
    assert settings["cleanup.policy"] == "delete"
    assert settings["retention.ms"] == "-1"
    assert int(settings["max.message.bytes"]) > 32 << 20


def test_a_topic_that_is_there_stays_as_it_is(kafka_broker: KafkaBroker) -> None:
    log = made(kafka_broker, retention_ms="86400000")
    append(log, event(1))
    assert settings_of(log)["retention.ms"] == "86400000"
    assert len(log.list_lanes()) == 1


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_a_topic_that_forgets_is_refused(kafka_broker: KafkaBroker, policy: str) -> None:
    with pytest.raises(LogError, match=r"compacted.*cleanup\.policy"):
        made(kafka_broker, cleanup_policy=policy).open_writer()


def test_the_largest_event_that_the_collector_takes_passes(kafka_broker: KafkaBroker) -> None:
    log = open_log(kafka_broker.new_topic(partitions=1))
    large = event(1, size=(32 << 20) - 1000)
    assert (32 << 20) - 1000 < len(large.payload) <= 32 << 20
    (appended,) = append(log, large)
    assert appended.refused == ""
    assert by_position(log)[appended.position].payload == large.payload


def test_what_a_topic_is_too_small_for_is_told_and_kept_in_part(kafka_broker: KafkaBroker) -> None:
    log = made(kafka_broker, max_message_bytes="100000", compression_type="uncompressed")
    noise = "".join(uuid4().hex for _ in range(8_000))
    large = replace(event(1), payload=event(1).payload + noise.encode())
    neighbours = [event(number, size=2_000) for number in range(2, 200)]
    writer = log.open_writer()
    (cut, *others) = writer.append([large, *neighbours])
    assert "max.message.bytes" in cut.refused
    assert {one.refused for one in others} == {""}
    (again,) = writer.append([large])
    assert again.refused, "it did not count as seen"
    writer.close()
    read = by_position(log)
    kept = read[cut.position]
    assert (kept.kind, kept.reason) == (Kind.QUARANTINED, cut.refused)
    assert large.payload[:1000] == kept.payload[:1000]
    assert len(kept.payload) <= KEPT_BYTES
    assert {read[one.position].key for one in others} == {one.key.hex() for one in neighbours}


def test_a_refused_body_that_is_too_large_keeps_its_own_reason(kafka_broker: KafkaBroker) -> None:
    log = made(kafka_broker, max_message_bytes="100000", compression_type="uncompressed")
    (appended,) = append(log, refused("".join(uuid4().hex for _ in range(8_000)).encode()))
    assert appended.refused == ""
    (kept,) = records_of(log)
    assert (kept.pointer, kept.reason) == ("/run/é", "not a 'uuid'")


def test_a_login_is_used(kafka_broker: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("login") / "kafka.properties"
    lines = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", f"sasl.username={USER}"]
    path.write_text("\n".join([*lines, f"sasl.password={PASSWORD}"]))
    topic = f"t{uuid4().hex}"
    address = f"kafka://{kafka_broker.servers_with_login}/{topic}?partitions=1&timeout=5&settings={path}"
    append(open_log(address), event(1))
    assert open_log(address).oldest_received_at({}) == event(1).received_at
    path.write_text("\n".join([*lines, "sasl.password=wrong"]))
    with pytest.raises(LogError, match="cannot be used"):
        open_log(address.replace("timeout=5", "timeout=1")).open_writer()


def test_a_broker_that_is_down_is_a_log_error_in_bounded_time(kafka_broker: KafkaBroker, hurried: KafkaLog) -> None:
    writer = hurried.open_writer()
    writer.append([event(1)])
    kafka_broker.stop()
    for action in (lambda: writer.append([event(2)]), writer.check_writable, hurried.open_writer, hurried.list_lanes):
        began = time.monotonic()
        with pytest.raises(LogError):
            action()
        assert time.monotonic() - began < 3 * PATIENCE_SECONDS + 1
    writer.close()
    kafka_broker.start()
    append(hurried, event(2))
    keys = [one.key for one in records_of(hurried) if one.kind is Kind.EVENT]
    assert sorted(keys) == sorted(event(number).key.hex() for number in (1, 2))


def test_a_broker_that_hangs_is_a_log_error_and_what_it_had_taken_is_no_loss(
    kafka_broker: KafkaBroker, hurried: KafkaLog
) -> None:
    writer = hurried.open_writer()
    writer.append([event(1)])
    kafka_broker.pause()
    try:
        with pytest.raises(LogError):
            writer.append([event(2)])
    finally:
        kafka_broker.resume()
    writer.close()
    append(hurried, event(2))
    assert {one.key for one in records_of(hurried)} == {event(number).key.hex() for number in (1, 2)}


@pytest.mark.parametrize("end", [KafkaBroker.stop, KafkaBroker.kill])
def test_nothing_acknowledged_is_lost_when_the_broker_restarts(
    kafka_broker: KafkaBroker, hurried: KafkaLog, end: Callable[[KafkaBroker], None]
) -> None:
    acknowledged: list[int] = []
    moved, stopped = threading.Condition(), threading.Event()

    async def send() -> None:
        commit = GroupCommit(hurried.open_writer)
        number = 0
        while not stopped.is_set():
            try:
                await asyncio.gather(*(commit.append((event(one),)) for one in range(number, number + 20)))
            except LogError:
                continue  # as clients do: the same again
            with moved:
                acknowledged.extend(range(number, number + 20))
                moved.notify()
            number += 20
        await commit.close()

    def wait_for(count: int) -> None:
        with moved:
            assert moved.wait_for(lambda: len(acknowledged) >= count, 60)

    sending = threading.Thread(target=asyncio.run, args=(send(),))
    sending.start()
    try:
        wait_for(200)
        end(kafka_broker)
        kafka_broker.start()
        wait_for(len(acknowledged) + 200)
    finally:
        stopped.set()
        sending.join(60)
    keys = {one.key for one in records_of(hurried)}
    assert {event(number).key.hex() for number in acknowledged} <= keys
