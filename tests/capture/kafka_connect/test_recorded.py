"""Polls of a real Kafka Connect 4.3.1, with answers recorded by `python -m nightly.connect.connect_poll`."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.captured_lineage import dataset_edges, store_events
from fixtures.replies import Request, replying
from whence.capture.kafka_connect.source import ConnectCluster, capture
from whence.errors import SourceError
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

RECORDED = Path(__file__).with_name("connect-4.3.1.json")
SECRET = "hush-4711"
HOURS = tuple(datetime(2026, 11, 26, hour, tzinfo=UTC) for hour in range(24))

Json = dict[str, Any]


class Replay:
    """The recorded answers; a test changes them between polls. `forbidden`: the end of paths that are refused."""

    def __init__(self) -> None:
        self.answers: Json = json.loads(RECORDED.read_text("utf-8"))
        self.forbidden = "-"
        self.cluster: ConnectCluster = capture.configure({"url": "http://connect:8083", "bootstrap": "kafka:9092"})

    def answer(self, request: Request) -> tuple[int, Any]:
        """The status and the answer of a request."""
        path = request.raw_path.removeprefix("/")
        if path.endswith(self.forbidden):
            return 403, {"error_code": 403, "message": "Topic tracking is disabled."}
        return (200, self.answers[path]) if path in self.answers else (404, {"error_code": 404})

    def poll(self, cursor: Any, hour: int) -> tuple[list[Json], Any]:
        """The events of a poll at an hour, and the cursor after it."""
        source = ConnectCluster(
            source=self.cluster.source,
            bootstrap="kafka:9092",
            instance="kafka-connect://connect:8083",
            clock=lambda: HOURS[hour],
        )
        found = list(source.records(cursor, Window()))
        naming = Naming("prod", source.instance)
        events = chain.from_iterable(source.translate(record, naming) for record, _ in found)
        return list(events), found[-1][1] if found else cursor


@pytest.fixture
def replay() -> Iterator[Replay]:
    made = Replay()
    with replying(made.answer) as url:
        made.cluster.source.url = url
        made.cluster.source.pause = lambda seconds: None
        yield made


def states(events: list[Json]) -> dict[str, str]:
    return {one["job"]["name"]: one["eventType"] for one in events}


def test_the_store_has_what_went_through_topics(replay: Replay, sqlite_store: Engine) -> None:
    events, _ = replay.poll(None, 0)
    assert dataset_edges(store_events(sqlite_store, events)) == {
        "lake/prod ü.txt -> prod.orders-v1",
        "prod.orders-v1 -> lake/prod-out; drop 1.txt",
        "lake/staging ü.txt -> staging.orders-v1",
        "staging.orders-v1 -> lake/staging-out; drop 1.txt",
    }


def test_twice_and_shuffled_is_the_same_store(replay: Replay, sqlite_store: Engine) -> None:
    events, _ = replay.poll(None, 0)
    once = store_events(sqlite_store, events)
    twice = [*events, *replay.poll(None, 0)[0]]
    random.Random(19).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_a_failure_has_its_message_and_stack(replay: Replay) -> None:
    events, _ = replay.poll(None, 0)
    (failed,) = [one for one in events if one["eventType"] == "FAIL"]
    error = failed["run"]["facets"]["errorMessage"]
    assert failed["job"]["name"] == "dev.broken"
    assert "Couldn't find or create file" in error["message"]
    assert "FileStreamSinkTask.start" in error["stackTrace"]


def test_events_are_valid_and_have_no_secret(replay: Replay) -> None:
    assert SECRET in json.dumps(replay.answers), "the fixture has secrets, or this test proves nothing"
    for one in replay.poll(None, 0)[0]:
        require_valid(one)
        assert accept(encode_event(one)).warnings == ()
        assert SECRET.encode() not in encode_event(one)


def test_what_did_not_change_is_not_reported_again(replay: Replay) -> None:
    _, cursor = replay.poll(None, 0)
    assert replay.poll(cursor, 1) == ([], cursor)


def test_a_connector_that_is_deleted_ends_with_its_topics(replay: Replay) -> None:
    first, cursor = replay.poll(None, 0)
    del replay.answers["connectors"]["prod.orders ü in"]
    events, after = replay.poll(cursor, 1)
    assert states(events) == {"prod.orders ü in": "COMPLETE", "prod.orders ü in.prod.orders-v1": "COMPLETE"}
    assert {one["run"]["runId"] for one in events} <= {one["run"]["runId"] for one in first}
    assert replay.poll(after, 2) == ([], after)


def test_a_connector_that_works_again_is_another_run(replay: Replay) -> None:
    first, cursor = replay.poll(None, 0)
    replay.answers["connectors"]["dev.broken"]["status"]["tasks"][0]["state"] = "RUNNING"
    events, _ = replay.poll(cursor, 1)
    assert states(events) == {"dev.broken": "RUNNING"}
    assert not {one["run"]["runId"] for one in events} & {one["run"]["runId"] for one in first}


def test_a_worker_that_tracks_no_topics_has_those_that_settings_name(replay: Replay) -> None:
    replay.forbidden = "/topics"
    names = {topic for event in replay.poll(None, 0)[0] for topic in _topics(event)}
    assert names == {"dev.never", "prod.orders-v1", "staging.orders-v1"}  # and none of a pattern


def _topics(event: Json) -> Iterator[str]:
    for one in (*event["inputs"], *event["outputs"]):
        if one["namespace"] == "kafka://kafka:9092":
            yield one["name"]


def test_what_is_not_known_of_a_topic_is_named(replay: Replay) -> None:
    replay.answers["connectors"]["prod.orders ü in"]["info"]["config"]["connector.class"] = "com.shop.MineConnector"
    events, _ = replay.poll(None, 0)
    facets = [one["run"]["facets"] for one in events if one["job"]["name"] == "prod.orders ü in"]
    (gap,) = facets[-1]["extractionError"]["errors"]
    assert "com.shop.MineConnector" in gap["errorMessage"]


def test_a_backfill_has_nothing_to_read(replay: Replay) -> None:
    assert list(replay.cluster.records(None, Window(until=HOURS[1]))) == []


@pytest.mark.parametrize("options", [{}, {"url": "connect:8083"}, {"url": "http://connect:8083"}])
def test_what_is_missing_is_wrong_usage(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WHENCE_CONNECT_URL", "WHENCE_CONNECT_BOOTSTRAP"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="set "):
        capture.configure(options)


def test_a_worker_that_is_away_is_a_problem(replay: Replay) -> None:
    assert replay.cluster.check().version == "4.3.1"
    replay.answers.clear()
    with pytest.raises(SourceError, match="404"):
        replay.poll(None, 0)
