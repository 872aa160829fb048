"""A stream, a rebuild, SQLite and PostgreSQL, segments and Kafka: one log, one state.

The log has duplicates, late events and refused bodies.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from bench.workloads.events import Noise, arrivals
from fixtures.both_logs import KINDS, records_of
from fixtures.migrated_stores import open_migrated
from oracle import comparable
from oracle import dump as oracle_dump
from whence.derive.pipeline import run_stream
from whence.derive.progress import resume_positions
from whence.derive.rebuild import rebuild
from whence.errors import EventError, LogError, StoreBusyError, StoreError
from whence.log import Kind, Log
from whence.log.address import open_log
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentSettings
from whence.openlineage.accept import accept
from whence.store.connection.engine import open_store, read_progress, sqlite_url
from whence.store.connection.lock import hold_derive_lock
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import Ledger, read_ledger

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)
RECORDS = 400


def draft(body: bytes) -> Draft:
    try:
        taken = accept(body)
    except EventError as error:
        return make_quarantine_draft(body, error, 0)
    return Draft(kind=Kind.EVENT, key=bytes.fromhex(taken.key), received_at=0, payload=taken.payload, owner=taken.key)


@dataclass(frozen=True, slots=True)
class Filled:
    """A log, what its ledger must say, and the dump of a rebuild from it into SQLite."""

    log: Log
    ledger: Ledger
    rebuilt: list[str]


@pytest.fixture(scope="module", params=KINDS)
def filled(request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A log of several segments, or of several partitions."""
    directory = tmp_path_factory.mktemp("filled")
    log: Log
    if request.param == "segments":
        log = SegmentLog(directory / "log", SegmentSettings(segment_bytes=1 << 20, recent_keys=50))
    else:
        topic = request.getfixturevalue("kafka_broker").new_topic(partitions=3)
        log = open_log(topic, lambda: b"what the collectors of these tests sign with")
    drafts = [draft(one.body) for one in islice(arrivals(seed=3, jobs=20, days=30, noise=NOISE), RECORDS)]
    writer = log.open_writer()
    for start in range(0, RECORDS, 40):
        writer.append(drafts[start : start + 40])
    writer.close()
    kinds = Counter(one.kind for one in drafts)
    events = len({one.key for one in drafts if one.kind is Kind.EVENT})
    url = sqlite_url(directory / "store.db")
    rebuild(spark, log, url)
    rebuilt = list(dump(open_store(url)))
    return Filled(log, Ledger(events, kinds[Kind.EVENT] - events, kinds[Kind.QUARANTINED]), rebuilt)


def stream(spark: SparkSession, log: Log, engine: Engine, checkpoint: Path) -> None:
    """Derive all that is in the log now."""
    query = run_stream(spark, log, engine, checkpoint)
    query.catch_up()
    query.stop()


def test_a_stream_equals_a_rebuild(spark: SparkSession, filled: Filled, store_url: str, tmp_path: Path) -> None:
    engine = open_migrated(store_url)
    stream(spark, filled.log, engine, tmp_path / "checkpoint")
    assert list(dump(engine)) == filled.rebuilt
    assert read_ledger(engine) == filled.ledger
    assert filled.ledger.duplicate > 10
    assert filled.ledger.quarantined > 5
    rebuild(spark, filled.log, store_url)
    assert list(dump(engine)) == filled.rebuilt
    assert read_ledger(engine) == filled.ledger
    engine.dispose()


def test_both_equal_the_oracle(filled: Filled) -> None:
    bodies = [one.payload for one in records_of(filled.log) if one.kind is Kind.EVENT]
    assert comparable(filled.rebuilt) == comparable(oracle_dump(bodies))


def test_a_stream_goes_on_where_the_store_is(spark: SparkSession, filled: Filled, tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    ends = {lane.name: lane.end.as_int for lane in filled.log.list_lanes()}
    for attempt in range(2):
        stream(spark, filled.log, engine, tmp_path / f"checkpoint{attempt}")
        assert read_progress(engine) == ends
    assert list(dump(engine)) == filled.rebuilt
    assert read_ledger(engine) == filled.ledger
    engine.dispose()


def test_a_store_of_another_log_is_refused(log: Log) -> None:
    with pytest.raises(StoreError, match=r"another event log \(other/0\)"):
        resume_positions(log, {"other/0": 1})


def test_a_store_that_is_ahead_of_its_log_is_refused(log: Log) -> None:
    (lane, *_) = log.list_lanes()
    assert resume_positions(log, {lane.name: lane.end.as_int})[lane.name] == lane.end
    with pytest.raises(LogError, match="the store is ahead"):
        resume_positions(log, {lane.name: lane.end.after.as_int})


def test_a_rebuild_is_refused_while_a_pipeline_runs(spark: SparkSession, log: Log, store_url: str) -> None:
    engine = open_migrated(store_url)
    with hold_derive_lock(engine), pytest.raises(StoreBusyError):
        rebuild(spark, log, store_url)
    engine.dispose()
