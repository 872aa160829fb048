"""The collector over a Kafka topic: what clients see while brokers come and go."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine

from api.collector.test_collect import event
from api.collector.test_durability import keep_posting, wait_for_acknowledged
from api.process import Api, Serving
from fixtures.both_logs import records_of
from fixtures.waits import wait_until
from services.kafka_broker import KafkaBroker
from whence.log import Kind, Position
from whence.log.address import open_log
from whence.store.ingest.recompute import recompute

Migrated = Callable[[Api], Engine]


def test_an_event_is_durable_when_it_is_answered(serving: Serving, kafka_broker: KafkaBroker) -> None:
    url = kafka_broker.new_topic(partitions=3)
    api = serving(log_url=url)
    body = event()
    first, again, bad = api.post(body), api.post(body), api.post(event(run={}))
    assert (first.status, again.status, bad.status) == (201, 201, 422)
    assert (first.json["duplicate"], again.json["duplicate"]) == (False, True)
    records = {str(one.position): one for one in records_of(open_log(url))}
    assert [records[one.json["position"]].kind for one in (first, again, bad)] == list(Kind)
    assert records[first.json["position"]].key == first.json["key"]
    assert records[bad.json["position"]].reason == bad.json["reason"]


def test_progress_is_told_of_each_partition(serving: Serving, kafka_broker: KafkaBroker, migrated: Migrated) -> None:
    url = kafka_broker.new_topic(partitions=2)
    api = serving(log_url=url, stale_seconds=0.0)
    engine, log = migrated(api), open_log(url)
    posted = [api.post(event(job={"namespace": "n", "name": str(name)})).json["position"] for name in range(8)]
    assert {Position.parse(one).segment for one in posted} == {0, 1}
    ends = {lane.name: lane.end for lane in log.list_lanes()}
    progress = api.ask("GET", "/api/v2/progress?timeout=0&wait_for=head").json
    assert progress == {"position": "0:0,1:0", "head": ",".join(map(str, ends.values())), "reached": False}
    for lane, end in ends.items():
        assert api.ask("GET", "/health/ready").status == 503
        recompute(engine, {lane: end.as_int})
    assert api.ask("GET", "/api/v2/progress?timeout=0&wait_for=head").json["reached"] is True
    assert api.ask("GET", f"/api/v2/progress?timeout=0&wait_for={','.join(posted)}").json["reached"] is True
    ready = api.ask("GET", "/health/ready")
    assert (ready.status, ready.json["checks"]["pipeline"]["detail"]) == (200, "has applied everything")


def test_a_broker_that_is_down_means_503_then_recovery(
    serving: Serving, kafka_broker: KafkaBroker, migrated: Migrated
) -> None:
    url = kafka_broker.new_topic(partitions=1, timeout=2)
    api = serving(log_url=url)
    migrated(api)
    assert api.post(event()).status == 201
    kafka_broker.stop()
    try:
        refused = api.post(event())
        assert refused.status == 503
        assert int(refused.headers["retry-after"]) > 0
        ready = api.ask("GET", "/health/ready")
        assert (ready.status, ready.json["checks"]["log"]["ok"]) == (503, False)
        assert api.ask("GET", "/api/v2/progress").status == 503
        assert api.ask("GET", "/health/live").status == 200
    finally:
        kafka_broker.start()
    assert api.ask("GET", "/health/ready").json["checks"]["log"]["ok"] is True
    assert api.post(event()).status == 201


def test_an_api_that_starts_before_its_broker_waits_for_it(serving: Serving, kafka_broker: KafkaBroker) -> None:
    url = kafka_broker.new_topic(partitions=1, timeout=2)
    kafka_broker.stop()
    try:
        api = serving(log_url=url)
        assert api.post(event()).status == 503
    finally:
        kafka_broker.start()
    wait_until(lambda: api.post(event()).status == 201)  # as clients do


def test_kill_9_of_collector_and_broker_loses_nothing_acknowledged(serving: Serving, kafka_broker: KafkaBroker) -> None:
    url = kafka_broker.new_topic(partitions=2, timeout=2)
    apis = [serving(log_url=url), serving(log_url=url)]
    stop, acknowledged = threading.Event(), list[str]()
    with ThreadPoolExecutor(4) as threads:
        posting = [threads.submit(keep_posting, api, stop, acknowledged, (503,)) for api in apis for _ in range(2)]
        try:
            wait_for_acknowledged(acknowledged, len(acknowledged) + 50, posting)
            kafka_broker.kill()
            kafka_broker.start()
            wait_for_acknowledged(acknowledged, len(acknowledged) + 50, posting)
            apis[0].down(signal.SIGKILL)
            apis[0].up()
            wait_for_acknowledged(acknowledged, len(acknowledged) + 50, posting)
        finally:
            stop.set()
    for task in posting:
        task.result()
    assert set(acknowledged) <= {one.key for one in records_of(open_log(url))}
