"""The pipeline on a topic that others write to as well: official clients, operators, transactions, retention."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from msgspec import structs
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from fixtures.both_logs import records_of
from fixtures.migrated_stores import open_migrated
from fixtures.waits import wait_until
from log.test_both_logs import append, event, refused
from oracle import comparable
from oracle import dump as oracle_dump
from services.kafka_broker import PASSWORD, USER, KafkaBroker
from whence.derive.archive.copy import archive_log
from whence.derive.pipeline import run_stream
from whence.derive.progress import resume_positions
from whence.derive.reading.records import COPY, to_records, transform_records
from whence.derive.rebuild import rebuild
from whence.derive.sources.event_log import make_source
from whence.errors import LogError
from whence.log import Kind, Position
from whence.log.address import open_log
from whence.log.kafka.log import KafkaLog
from whence.log.kafka.trusted_senders import Trust
from whence.openlineage.accept import accept
from whence.store.connection.engine import read_progress, sqlite_url
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import Ledger, list_quarantined, read_ledger


@pytest.fixture
def topic(kafka_broker: KafkaBroker) -> KafkaLog:
    """An empty topic of two partitions."""
    log = open_log(kafka_broker.new_topic(partitions=2))
    assert isinstance(log, KafkaLog)
    log.list_lanes()
    return log


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """An empty store."""
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    yield engine
    engine.dispose()


def derive(spark: SparkSession, log: KafkaLog, engine: Engine, checkpoint: Path) -> None:
    query = run_stream(spark, log, engine, checkpoint)
    query.catch_up()
    query.stop()


def ends(log: KafkaLog) -> dict[str, int]:
    return {lane.name: lane.end.as_int for lane in log.list_lanes()}


def state(engine: Engine) -> object:
    return comparable(dump(engine))


def oracle(log: KafkaLog) -> object:
    return comparable(oracle_dump(one.payload for one in records_of(log) if one.kind is Kind.EVENT))


def test_official_clients_write_to_the_topic_themselves(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path
) -> None:
    config = KafkaConfig(config={"bootstrap.servers": topic.address.servers}, topic=topic.address.topic)
    transport = KafkaTransport(config)
    for state_ in (RunState.START, RunState.COMPLETE):
        transport.emit(
            RunEvent(
                eventTime="2026-11-20T06:00:00Z",
                eventType=state_,
                run=Run(runId="0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"),
                job=Job(namespace="direct", name="job"),
                inputs=[InputDataset(namespace="postgres://me:hunter2@db:5432", name="a.b.c")],
                outputs=[OutputDataset(namespace="postgres://db:5432", name="a.b.d")],
                producer="https://example.org/direct",
            )
        )
    transport.close()
    append(topic, event(1))
    repeat = records_of(topic)[0].payload
    producer = Producer({"bootstrap.servers": topic.address.servers})
    for value in (b"no JSON", b'{"run": {}}', None):
        producer.produce(topic.address.topic, value, headers=[("whence-kind", b"event"), ("whence-key", b"me")])
    producer.produce(topic.address.topic, repeat)
    producer.flush(10)
    derive(spark, topic, engine, tmp_path / "checkpoint")
    assert read_ledger(engine) == Ledger(applied=3, duplicate=1, quarantined=3)
    reasons = {one.reason for one in list_quarantined(engine, 10)}
    assert len(reasons) >= 2
    lines = list(dump(engine))
    assert not any("hunter2" in line for line in lines)
    assert any("job:direct:job" in line for line in lines)
    accepted = [one.payload for one in records_of(topic) if one.kind is Kind.EVENT and b"eventTime" in one.payload]
    assert state(engine) == comparable(oracle_dump(accepted))


def test_the_records_of_a_topic_are_those_of_the_log(spark: SparkSession, topic: KafkaLog) -> None:
    append(topic, *map(event, range(30)), refused(b"no JSON"))
    writer = topic.open_writer()
    writer.append([event(1), event(2), event(2)])
    writer.close()
    records = make_source(topic).batch(spark, topic.list_lanes(), COPY)
    for frame in (records, transform_records(records, COPY)):
        read = [one for batch in frame.toArrow().to_batches() for one in to_records(batch)]
        assert sorted(read, key=lambda one: one.position) == records_of(topic)


def test_a_partition_that_is_added_is_read_from_its_beginning(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path
) -> None:
    append(topic, *map(event, range(10)))
    query = run_stream(spark, topic, engine, tmp_path / "checkpoint")
    query.catch_up()
    admin = AdminClient({"bootstrap.servers": topic.address.servers})
    admin.create_partitions([NewPartitions(topic.address.topic, 5)])[topic.address.topic].result(20)
    wait_until(lambda: len(topic.list_lanes()) >= 5)
    append(topic, *(event(number, owner=number) for number in range(10, 60)))
    assert all(lane.start < lane.end for lane in topic.list_lanes())
    query.catch_up()
    query.stop()
    assert read_progress(engine) == ends(topic)
    assert state(engine) == oracle(topic)


def test_what_retention_removed_before_it_was_derived_is_an_error_that_says_what_to_do(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path
) -> None:
    append(topic, *map(event, range(20)))
    derive(spark, topic, engine, tmp_path / "first")
    append(topic, *map(event, range(20, 60)))
    (lane, *_) = topic.list_lanes()
    partition, gone = lane.end.segment, lane.end.offset - 1
    admin = AdminClient({"bootstrap.servers": topic.address.servers})
    removed = TopicPartition(topic.address.topic, partition, gone)
    next(iter(admin.delete_records([removed]).values())).result(20)
    with pytest.raises(LogError, match=r"were deleted before the pipeline read them.*rebuild"):
        run_stream(spark, topic, engine, tmp_path / "second")
    reached = read_progress(engine)
    assert resume_positions(topic, {**reached, lane.name: Position(partition, gone).as_int})
    rebuild(spark, topic, engine.url.render_as_string(hide_password=False))
    assert read_progress(engine) == ends(topic)
    assert state(engine) == oracle(topic)


def test_a_transaction_counts_once_it_is_committed(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path
) -> None:
    settings = {"bootstrap.servers": topic.address.servers, "transactional.id": uuid4().hex}
    producer = Producer(settings)
    producer.init_transactions(20)
    append(topic, event(1))
    for number, end in ((2, producer.abort_transaction), (3, producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic.address.topic, event(number).payload, partition=0)
        producer.flush(10)
        end(20)
    query = run_stream(spark, topic, engine, tmp_path / "checkpoint")
    query.catch_up()
    assert read_ledger(engine).applied == 2
    assert read_progress(engine) == ends(topic), "also past what is no message"
    producer.begin_transaction()
    producer.produce(topic.address.topic, event(4).payload, partition=0)
    producer.flush(10)
    assert read_progress(engine) == ends(topic), "an open transaction is not yet in the log"
    producer.commit_transaction(20)
    query.catch_up()
    query.stop()
    assert read_ledger(engine).applied == 3
    assert read_progress(engine) == ends(topic)


def test_an_event_of_30_megabytes_passes(spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path) -> None:
    append(topic, event(1), event(2, size=30 << 20), event(3), event(4, size=30 << 20))
    derive(spark, topic, engine, tmp_path / "checkpoint")
    assert read_ledger(engine) == Ledger(applied=4)
    sizes = [len(json.loads(line)["producer"]) for line in dump(engine) if '"fact":"event"' in line]
    assert sum(size > 30 << 20 for size in sizes) == 2


def test_a_stream_outlives_a_restart_of_the_broker(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path, kafka_broker: KafkaBroker
) -> None:
    append(topic, *map(event, range(50)))
    query = run_stream(spark, topic, engine, tmp_path / "checkpoint")
    query.catch_up()
    kafka_broker.kill()
    kafka_broker.start()
    append(topic, *map(event, range(50, 100)))
    query.catch_up()
    query.stop()
    assert read_ledger(engine) == Ledger(applied=100)
    assert state(engine) == oracle(topic)


def test_a_login_is_used_by_spark_too(
    spark: SparkSession, kafka_broker: KafkaBroker, engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "kafka.properties"
    security = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": USER}
    path.write_text("\n".join(f"{name}={value}" for name, value in {**security, "sasl.password": PASSWORD}.items()))
    log = open_log(f"kafka://{kafka_broker.servers_with_login}/t{uuid4().hex}?partitions=1&settings={path}")
    assert isinstance(log, KafkaLog)
    append(log, event(1))
    derive(spark, log, engine, tmp_path / "checkpoint")
    assert read_ledger(engine) == Ledger(applied=1)


def test_who_writes_to_the_topic_without_whence_gives_evidence_only(
    spark: SparkSession, topic: KafkaLog, engine: Engine, tmp_path: Path
) -> None:
    """Whatever is in the headers. What the collector signed counts as it was accepted, also in rebuild and archive."""
    ours = KafkaLog(replace(topic.address, trusted=("s3://trusted*",)), b"the secret of the installation")
    accepted = accept(json.dumps(governed(1, "s3://prod", "by the collector")).encode())
    steward = structs.replace(event(1), key=bytes.fromhex(accepted.key), payload=accepted.payload)
    append(ours, steward)
    signed = ("whence-signature", ours.trust.sign(steward.key))
    headers = [("whence-kind", b"event"), ("whence-key", steward.key), signed]
    forged = [("whence-signature", Trust(b"a guess").sign(steward.key)), *headers[:2]]
    producer = Producer({"bootstrap.servers": topic.address.servers})
    for number, namespace, given in (
        (2, "s3://prod", []),
        (3, "s3://prod", headers),
        (4, "s3://prod", forged),
        (5, "s3://trusted/lake", []),
    ):
        body = governed(number, namespace, "PWNED" if "prod" in namespace else "by a trusted producer")
        producer.produce(topic.address.topic, json.dumps(body).encode(), headers=[*given])
    nowhere = governed(6, "s3://prod", "PWNED") | {"job": {"namespace": "", "name": "j"}}
    producer.produce(topic.address.topic, json.dumps(nowhere).encode())
    producer.flush(10)
    derive(spark, ours, engine, tmp_path / "checkpoint")
    assert read_ledger(engine) == Ledger(applied=5, duplicate=0, quarantined=1)
    assert list_quarantined(engine, 10)[0].reason.startswith("/job/namespace")
    first = list(dump(engine))
    descriptions = [
        one for one in map(json.loads, first) if one.get("fact") == "facet" and one["name"] == "documentation"
    ]
    assert {(one["subject"], one["payload"]["description"]) for one in descriptions} == {
        ("dataset:s3://prod:d", "by the collector"),
        ("dataset:s3://trusted/lake:d", "by a trusted producer"),
    }
    assert sum('"fact":"run_lineage"' in line for line in first) == 5, "the lineage of each of them counts"
    payloads = [one.payload for one in records_of(ours) if one.kind is Kind.EVENT]
    assert comparable(first) == comparable(oracle_dump(one for one in payloads if json.loads(one)["job"]["namespace"]))
    url = engine.url.render_as_string(hide_password=False)
    archive_log(spark, ours, archive := str(tmp_path / "archive"))
    rebuild(spark, topic, url, archive)
    assert list(dump(engine)) == first, "the archive knows without the secret"
    rebuild(spark, ours, url)
    assert list(dump(engine)) == first


def governed(number: int, namespace: str, description: str) -> dict[str, object]:
    """An event of a job in `direct` that describes a dataset."""
    facets = {"documentation": {"description": description}, "whence_tier": {"tier": number}}
    return {
        "eventTime": f"2026-11-20T06:0{number}:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.org/direct",
        "run": {"runId": f"0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a1{number}"},
        "job": {"namespace": "direct", "name": "job"},
        "outputs": [{"namespace": namespace, "name": "d", "facets": facets}],
    }
