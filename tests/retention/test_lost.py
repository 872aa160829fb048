"""Records that the pipeline passed without an outcome are found, in both logs: those, and no others."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from sqlalchemy import Engine, insert

from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply_lanes
from retention.worlds import bodies, opened
from services.kafka_broker import KafkaBroker
from whence.cli.administration.ledger import show_lost
from whence.cli.output.streams import Output
from whence.govern.lost_records import LostCount, find_lost
from whence.log import Kind, Lanes, Log, Position
from whence.log.address import open_log
from whence.log.kafka.log import KafkaLog
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import reading, sqlite_url, writing
from whence.store.ingest.retention_summary import retention_horizon


def ends(log: Log) -> Lanes:
    return {lane.name: lane.end for lane in log.list_lanes()}


def found(log: Log, engine: Engine, most: int = 1_000) -> tuple[list[Position], int]:
    """All that is lost, looked for `most` records at a time, and how many were looked at."""
    positions: list[Position] = []
    looked, since = 0, None
    with reading(engine) as connection:
        while True:
            some = find_lost(log, connection, since, most)
            assert some.looked <= most
            positions, looked, since = [*positions, *some.positions], looked + some.looked, some.until
            if since is None:
                return positions, looked


def without(log: Log, lost: Iterable[Position], engine: Engine) -> None:
    """Derive all of a log but these records."""
    gone = set(lost)
    apply_lanes(engine, [one for one in records_of(log) if one.position not in gone], ends(log))


@pytest.fixture
def filled(log: Log) -> Log:
    """With events, repeats and bodies that are no events."""
    fill(log, bodies(200, jobs=5))
    assert {one.kind for one in records_of(log)} == set(Kind)
    return log


def test_where_everything_has_an_outcome_nothing_is_lost(filled: Log, tmp_path: Path) -> None:
    with opened(sqlite_url(tmp_path / "store.db")) as engine:
        without(filled, (), engine)
        assert found(filled, engine) == ([], 200)
        assert found(filled, engine, most=7) == ([], 200)


def test_what_has_no_outcome_is_found_and_nothing_else(filled: Log, tmp_path: Path) -> None:
    every = sorted(one.position for one in records_of(filled))
    lost = sorted(random.Random(7).sample(every, 23))
    with opened(sqlite_url(tmp_path / "store.db")) as engine:
        without(filled, lost, engine)
        # Each question opens the topic again.
        for most in (1, 10, 1_000) if isinstance(filled, SegmentLog) else (40, 1_000):
            assert found(filled, engine, most) == (lost, 200)


def test_what_the_pipeline_has_not_reached_yet_is_not_lost(filled: Log, tmp_path: Path) -> None:
    with opened(sqlite_url(tmp_path / "store.db")) as engine:
        assert found(filled, engine) == ([], 0)
        lane = max(filled.list_lanes(), key=lambda one: one.end)
        own = sorted(one.position for one in records_of(filled) if filled.lane_of(one.position) == lane.name)
        apply_lanes(engine, (), {lane.name: own[3]})
        assert found(filled, engine) == (own[:3], 3)


def test_what_may_be_forgotten_is_not_called_lost(filled: Log, tmp_path: Path) -> None:
    with opened(sqlite_url(tmp_path / "store.db")) as engine:
        apply_lanes(engine, (), ends(filled))
        every = sorted(one.position for one in records_of(filled))
        lanes = {lane.name: [one for one in every if filled.lane_of(one) == lane.name] for lane in filled.list_lanes()}
        with writing(engine) as connection:
            same = {"runs": 0, "keep": 1, "history": 0, "finished": True}
            rows = [{**same, "lane": lane, "position": own[4].as_int} for lane, own in lanes.items()]
            connection.execute(insert(retention_horizon), [{**one, "number": 1} for one in rows])
        after = sorted(one for own in lanes.values() for one in own[4:])
        assert found(filled, engine) == (after, len(after))


def test_the_terminal_lists_them_and_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, url = open_log(str(tmp_path / "log")), sqlite_url(tmp_path / "store.db")
    assert isinstance(log, SegmentLog)
    fill(log, bodies(30, jobs=2))
    (lost,) = random.Random(1).sample([one.position for one in records_of(log)], 1)
    with opened(url) as engine:
        without(log, [lost], engine)
        assert show_lost(url, str(log.directory), Output.TEXT) == 1
        assert capsys.readouterr().out.splitlines() == [
            "1 of 30 records have no outcome; `whence rebuild` derives them again",
            str(lost),
        ]
        apply_lanes(engine, records_of(log), ends(log))
    assert show_lost(url, str(log.directory), Output.TEXT) == 0
    assert capsys.readouterr().out.splitlines() == ["30 records looked at, each has an outcome"]
    assert show_lost(url, str(log.directory), Output.JSON) == 0
    assert json.loads(capsys.readouterr().out) == {"lost": [], "looked": 30}


@pytest.fixture
def kafka_log(kafka_broker: KafkaBroker) -> KafkaLog:
    """An empty topic."""
    return KafkaLog.at(kafka_broker.new_topic(partitions=3))


def test_what_is_no_record_of_a_topic_is_not_lost(kafka_log: KafkaLog, tmp_path: Path) -> None:
    """Markers of transactions, and messages of an aborted one, have offsets too."""
    some = bodies(12, jobs=3)
    fill(kafka_log, some[:4])
    settings = {"bootstrap.servers": kafka_log.address.servers, "transactional.id": uuid4().hex}
    producer = Producer(settings)
    producer.init_transactions(20)
    for number, end in ((4, producer.commit_transaction), (6, producer.abort_transaction)):
        producer.begin_transaction()
        for partition, body in enumerate(some[number : number + 2]):
            producer.produce(kafka_log.address.topic, body, partition=partition)
        producer.flush(10)
        end(20)
    offsets = [one for lane in kafka_log.list_lanes() for one in kafka_log.list_positions(lane.start, lane.end, 100)]
    records = [one for one in kafka_log.read_records(offsets) if one]
    assert len(records) == 6
    with opened(sqlite_url(tmp_path / "store.db")) as engine:
        counting = LostCount(kafka_log, engine)
        apply_lanes(engine, records[:-1], ends(kafka_log))
        positions, looked = found(kafka_log, engine)
        assert (positions, looked) == ([records[-1].position], kafka_log.count_before(ends(kafka_log)).records)
        assert looked >= 6 + 2 + 4, "two aborted messages and four markers"
        assert [counting.count(), counting.count()] == [1, 1]
        apply_lanes(engine, records, ends(kafka_log))
        assert counting.count() == 0
        fill(kafka_log, some[8:])
        apply_lanes(engine, (), ends(kafka_log))
        assert counting.count() == 4
