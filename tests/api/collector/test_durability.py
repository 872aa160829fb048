"""Durability over HTTP: nothing acknowledged is ever missing, and what cannot be made durable is not acknowledged."""

import http.client
import resource
import signal
import threading
import uuid
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.request import urlopen

from api.collector.test_collect import event
from api.process import Api, Serving
from fixtures.stores_of_events import apply
from fixtures.waits import wait_until
from generators.mutations import mutations
from retention.worlds import opened
from whence.cli.administration.status import standing_lines
from whence.log import Kind, Position
from whence.log.segments import committed_end
from whence.log.segments.files import segment_path
from whence.log.segments.write import SegmentWriter

AGAIN_SECONDS = 0.02
"""After which a client tries again: a collector that starts meanwhile needs the core."""


def keep_posting(api: Api, stop: threading.Event, acknowledged: list[str], again: tuple[int, ...] = ()) -> None:
    """Post one event after the other, each until it is acknowledged, over broken connections too, as clients do; and
    after an answer with one of the statuses in `again`.
    """
    while not stop.is_set():
        body = event(run={"runId": str(uuid.uuid4())})
        while not stop.is_set():
            try:
                answer = api.post(body)
            except (OSError, http.client.HTTPException):
                stop.wait(AGAIN_SECONDS)
                continue
            if answer.status in again:
                stop.wait(AGAIN_SECONDS)
                continue
            assert answer.status == 201
            acknowledged.append(answer.json["key"])
            break


def wait_for_acknowledged(acknowledged: list[str], count: int, posting: Sequence[Future[None]]) -> None:
    """Wait until so many events are acknowledged. Raises AssertionError if one that posts has ended."""
    wait_until(lambda: len(acknowledged) >= count, lambda: not any(task.done() for task in posting))


def test_kill_9_under_load_loses_nothing_acknowledged(serving: Serving) -> None:
    api = serving()
    stop, acknowledged = threading.Event(), list[str]()
    with ThreadPoolExecutor(8) as threads:
        posting = [threads.submit(keep_posting, api, stop, acknowledged) for _ in range(8)]
        for kill in range(1, 4):
            wait_for_acknowledged(acknowledged, kill * 60, posting)
            api.down(signal.SIGKILL)
            api.up()
        stop.set()
    for task in posting:
        task.result()
    records = api.records()
    stored = [record.key for record in records if record.kind is Kind.EVENT]
    assert len(acknowledged) >= 180
    assert set(acknowledged) <= set(stored)
    assert len(stored) == len(set(stored)), "what a client sent again is a receipt"


def test_a_clean_stop_answers_what_is_under_way_and_frees_the_log(serving: Serving) -> None:
    api = serving()
    stop, acknowledged = threading.Event(), list[str]()
    with ThreadPoolExecutor(4) as threads:
        posting = [threads.submit(keep_posting, api, stop, acknowledged) for _ in range(4)]
        wait_for_acknowledged(acknowledged, 50, posting)
        api.down(signal.SIGTERM)
        SegmentWriter(api.data / "log").close()
        api.up()
        stop.set()
    assert set(acknowledged) <= {record.key for record in api.records()}


def test_a_disk_that_refuses_means_503_then_recovery(serving: Serving) -> None:
    api = serving()
    assert api.post(event()).status == 201
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(api.pid, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
    refused = api.post(event(producer="x" * 20_000))
    assert refused.status == 503
    assert int(refused.headers["retry-after"]) > 0
    assert "File too large" in refused.json["reason"]
    ready = api.ask("GET", "/health/ready")
    assert (ready.status, ready.json["checks"]["log"]["ok"]) == (503, False)
    assert "File too large" in ready.json["checks"]["log"]["detail"]
    assert api.ask("GET", "/health/live").status == 200

    resource.prlimit(api.pid, resource.RLIMIT_FSIZE, unlimited)
    assert api.ask("GET", "/health/ready").json["checks"]["log"]["ok"] is True
    assert api.post(event(producer="x" * 20_000)).status == 201
    assert [record.kind for record in api.records()] == [Kind.EVENT] * 2


def test_a_log_in_other_hands_means_503_with_a_short_retry(serving: Serving) -> None:
    api = serving()
    api.down()
    other = SegmentWriter(api.data / "log")
    api.up()
    refused = api.post(event())
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert api.post([event()], "/lineage/batch").status == 503
    other.close()
    assert api.post(event()).status == 201


def test_overload_is_503_and_all_that_was_acknowledged_is_there(serving: Serving) -> None:
    api = serving(commit={"queue_records": 1, "queue_bytes": 1})
    with ThreadPoolExecutor(32) as threads:
        answers = list(threads.map(lambda _: api.post(event(producer="x" * 50_000)), range(300)))
    assert {answer.status for answer in answers} <= {201, 503}
    assert all("retry-after" in answer.headers for answer in answers if answer.status == 503)
    accepted = {answer.json["key"] for answer in answers if answer.status == 201}
    assert accepted == {record.key for record in api.records()}


def test_no_mutated_event_is_a_server_error_or_harms_its_neighbours(serving: Serving) -> None:
    api = serving()
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=30)
    statuses = []
    for body in mutations(seed=7, n=600):
        connection.request("POST", "/lineage", body)
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()
    assert set(statuses) == {201, 400, 422}
    kinds = [record.kind is Kind.QUARANTINED for record in api.records()]
    assert kinds == [status != 201 for status in statuses]
    assert api.post(event()).status == 201


def test_damage_is_sealed_and_reported_and_collecting_goes_on(serving: Serving) -> None:
    api = serving()
    for number in range(5):
        api.post(event(producer=f"https://example.org/{number}") if number != 3 else b"{]")
    records = api.records()
    api.down()
    with opened(api.store_url) as engine:
        apply(engine, [one for one in records if one is not records[1]], committed_end(api.data / "log"))
    for one in (records[1], records[3]):
        with segment_path(api.data / "log", 1).open("r+b") as file:
            file.seek(one.position.offset + 40)
            file.write(b"\xff")
    api.up()
    after = api.post(event())
    assert (after.status, after.json["position"]) == (201, "2:16")
    assert [one.position for one in api.records()] == [
        records[0].position,
        records[2].position,
        records[4].position,
        Position(2, 16),
    ]

    status = api.ask("GET", "/api/v2/status").json
    assert [(one["from"], one["state"], one["records"]) for one in status["damaged"]] == [
        (str(one.position), "sealed", 1) for one in (records[1], records[3])
    ]
    assert (status["received"]["records"], status["missing"]) == (6, 1)
    (first, _) = [line.plain for line in standing_lines(status) if line.plain.startswith("damaged")]
    assert first.endswith(
        f"from {records[1].position} to {records[2].position}, at least 1 records: see whence log repair"
    )
    lost = api.ask("GET", "/api/v2/lost-records").json["data"]["records"]
    assert lost == [{"position": str(records[1].position), "received_at": None}]
    (refused,) = api.ask("GET", "/api/v2/quarantine").json["data"]
    assert (refused["position"], refused["bytes"]) == (str(records[3].position), None)
    assert api.ask("GET", f"/api/v2/quarantine/{records[3].position}").status == 503
    with urlopen(f"http://127.0.0.1:{api.port}/metrics") as answer:
        assert b'whence_log_damaged_records{state="sealed"} 2.0' in answer.read()
