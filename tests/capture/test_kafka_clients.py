"""Topics that a process reads and writes with confluent-kafka, against a real broker."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.serialization import StringDeserializer, StringSerializer

from client.tests.frames.sessions import Kept, capturing
from fixtures.collectors import collecting
from services.kafka_broker import KafkaBroker
from whence.openlineage.validation.strict import require_valid
from whence_client.captures.patches import is_hooked
from whence_client.kafka.hooks import KafkaCapture
from whence_client.outbox.flush import flush_outbox
from whence_client.process.settings import Settings

ORIGINALS = {name: getattr(confluent_kafka, name) for name in ("Producer", "Consumer")}


@pytest.fixture
def topics(kafka_broker: KafkaBroker) -> tuple[str, str]:
    names = (f"raw-{uuid.uuid4().hex}", f"clean-{uuid.uuid4().hex}")
    admin = AdminClient({"bootstrap.servers": kafka_broker.servers})
    for made in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
        made.result(30)
    return names


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(KafkaCapture()) as made:
        yield made


def read(session: Kept, place: int = -1) -> tuple[str, dict[str, int], dict[str, int]]:
    """State, and messages by topic, of an event."""
    event = session.events[place]
    roles = [
        {one["name"]: one[f"{role}Facets"][f"{role}Statistics"]["rowCount"] for one in event[f"{role}s"]}
        for role in ("input", "output")
    ]
    return event["eventType"], roles[0], roles[1]


def test_a_process_is_one_run_with_its_topics(kafka_broker: KafkaBroker, topics: tuple[str, str]) -> None:
    raw, clean = topics
    with capturing(KafkaCapture()) as session:
        producer = confluent_kafka.Producer({"bootstrap.servers": kafka_broker.servers})
        for number in range(5):
            producer.produce(raw, value=str(number))
        producer.flush(30)
        settings = {"bootstrap.servers": kafka_broker.servers, "group.id": raw, "auto.offset.reset": "earliest"}
        consumer = confluent_kafka.Consumer(settings)
        consumer.subscribe([raw])
        read_messages = consumer.consume(3, 30)
        while len(read_messages) < 5:
            read_messages += [one for one in [consumer.poll(30)] if one is not None]
        for message in read_messages:
            producer.produce(clean, message.value())
        producer.flush(30)
        consumer.close()
    assert [read(session, place) for place in range(4)] == [
        ("RUNNING", {}, {raw: 1}),
        ("RUNNING", {raw: 1}, {raw: 5}),
        ("RUNNING", {raw: 5}, {raw: 5, clean: 1}),
        ("COMPLETE", {raw: 5}, {raw: 5, clean: 5}),
    ]
    assert len(session.events) == 4
    assert len({one["run"]["runId"] for one in session.events}) == 1
    assert {one["namespace"] for one in session.events[-1]["inputs"]} == {f"kafka://{kafka_broker.servers}"}
    assert session.events[-1]["job"]["facets"]["jobType"]["processingType"] == "STREAMING"


def test_clients_with_serializers(session: Kept, kafka_broker: KafkaBroker, topics: tuple[str, str]) -> None:
    raw, _ = topics
    servers = {"bootstrap.servers": kafka_broker.servers}
    producer = confluent_kafka.SerializingProducer({**servers, "value.serializer": StringSerializer()})
    producer.produce(raw, value="a")
    producer.flush(30)
    read_with = {"group.id": raw, "auto.offset.reset": "earliest", "value.deserializer": StringDeserializer()}
    consumer = confluent_kafka.DeserializingConsumer({**servers, **read_with})
    consumer.subscribe([raw])
    message: Any = consumer.poll(30)  # the stubs say bytes
    assert message.value() == "a"
    assert read(session) == ("RUNNING", {raw: 1}, {raw: 1})
    assert isinstance(producer, confluent_kafka.Producer)
    assert isinstance(consumer, confluent_kafka.Consumer)
    assert issubclass(confluent_kafka.SerializingProducer, confluent_kafka.Producer)
    consumer.close()


def test_a_message_that_is_refused_does_not_count(session: Kept, topics: tuple[str, str]) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 1})
    producer.produce(topics[0], value="a")
    with pytest.raises(BufferError):
        producer.produce(topics[0], value="b")
    assert read(session) == ("RUNNING", {}, {topics[0]: 1})
    producer.purge()


JOB = """
import os, signal, sys
from multiprocessing import get_context
from confluent_kafka import Consumer, Producer

servers, raw, clean, mode = sys.argv[1:]

def clean_up():
    consumer = Consumer({"bootstrap.servers": servers, "group.id": raw, "auto.offset.reset": "earliest"})
    producer = Producer({"bootstrap.servers": servers})
    consumer.subscribe([raw])
    message = consumer.poll(60)
    producer.produce(clean, message.value())
    producer.flush(60)
    consumer.close()

producer = Producer({"bootstrap.servers": servers})
producer.produce(raw, "1")
producer.flush(60)
if mode == "fork":
    child = get_context("fork").Process(target=clean_up)
    child.start()
    child.join()
else:
    clean_up()
print("done", flush=True)
if mode == "fail":
    raise ValueError("no connection")
if mode == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run_job(broker: KafkaBroker, topics: tuple[str, str], mode: str, folder: Path) -> tuple[int, list[Any]]:
    """The exit code and the events of a job that is run as a user runs it, in the namespace `prod`."""
    (folder / "job.py").write_text(JOB)
    with collecting() as collector:
        settings = {
            "WHENCE_URL": collector.url,
            "WHENCE_OUTBOX": str(folder / "outbox"),
            "OPENLINEAGE_NAMESPACE": "prod",
        }
        command = [sys.executable, "-m", "whence_client.trace", "job.py", broker.servers, *topics, mode]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, stdout=subprocess.PIPE, check=False)
        assert done.stdout == b"done\n"
        assert not any(one.problem for one in flush_outbox(Settings(url=collector.url, outbox=str(folder / "outbox"))))
        return done.returncode, list(collector.events)


@pytest.mark.parametrize(("mode", "code"), [("succeed", 0), ("fail", 1), ("kill", -9)])
def test_a_job_as_users_run_it(
    kafka_broker: KafkaBroker, topics: tuple[str, str], tmp_path: Path, mode: str, code: int
) -> None:
    raw, clean = topics
    ended, events = run_job(kafka_broker, topics, mode, tmp_path)
    assert ended == code
    own = [one for one in events if one["job"]["name"] == "job.kafka"]
    assert {one["job"]["namespace"] for one in events} == {"prod"}
    assert {one["name"] for event in own for one in event["outputs"]} == {raw, clean}
    assert {one["name"] for event in own for one in event["inputs"]} == {raw}
    assert [one["eventType"] for one in own].count("COMPLETE") == (0 if mode == "kill" else 1)
    outer = [one for one in events if one["job"]["name"] == "job"]
    assert {one["run"]["facets"]["parent"]["run"]["runId"] for one in own} == {outer[0]["run"]["runId"]}
    for event in events:
        require_valid(event)


def test_a_forked_child_has_a_run_of_its_own(
    kafka_broker: KafkaBroker, topics: tuple[str, str], tmp_path: Path
) -> None:
    raw, clean = topics
    ended, events = run_job(kafka_broker, topics, "fork", tmp_path)
    assert ended == 0
    ends = [one for one in events if one["job"]["name"] == "job.kafka" and one["eventType"] == "COMPLETE"]
    found = [([i["name"] for i in one["inputs"]], [o["name"] for o in one["outputs"]]) for one in ends]
    assert sorted(found) == sorted([([], [raw]), ([raw], [clean])])
    assert len({one["run"]["runId"] for one in ends}) == 2


def test_an_error_of_a_hook_is_the_runs_and_not_the_jobs(session: Kept) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:1"})
    vars(producer)["_whence_cluster"] = ["no", "text"]
    producer.produce("orders", value="a")
    assert session.guard("confluent_kafka").take_errors().keys() == {"confluent_kafka: produce"}
    producer.purge()


def test_nothing_is_left_when_it_is_taken_back() -> None:
    own = {one: dict(vars(one)) for one in (confluent_kafka.SerializingProducer, confluent_kafka.DeserializingConsumer)}
    with capturing(KafkaCapture()) as session:
        assert confluent_kafka.Producer is not ORIGINALS["Producer"]
        assert confluent_kafka.Producer.__name__ == "Producer"
        KafkaCapture().install(session)()
        assert confluent_kafka.Producer is not ORIGINALS["Producer"]
    assert {name: getattr(confluent_kafka, name) for name in ORIGINALS} == ORIGINALS
    assert {one: dict(vars(one)) for one in own} == own
    assert not is_hooked(confluent_kafka)
    assert session.events == []
