"""A rebuild from archive and log is a rebuild from the log as it once was; as of a time, one of what came before."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fixtures.migrated_stores import open_migrated
from fixtures.received_events import FIRST, HOUR, append, hourly, segments
from whence.derive.archive.copy import archive_log, drop_archived
from whence.derive.archive.table import open_archive
from whence.derive.pipeline import run_stream
from whence.derive.rebuild import check_is_new, rebuild, rebuild_as_of
from whence.errors import LogBusyError, LogGapError, StoreError
from whence.log import Log
from whence.log.segments.files import list_segments as numbers
from whence.log.segments.files import segment_path
from whence.log.segments.log import LANE, SegmentLog
from whence.store.connection.engine import open_store, read_progress, sqlite_url
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import read_ledger

DRAFTS = hourly(300)
SEGMENT = 300_000
LATER = 200


def state(url: str) -> tuple[list[str], object]:
    engine = open_store(url)
    found = list(dump(engine)), read_ledger(engine)
    engine.dispose()
    return found


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], object]:
    """A rebuild from the whole log."""
    directory = tmp_path_factory.mktemp("whole")
    return only(spark, directory, len(DRAFTS))


def only(spark: SparkSession, directory: Path, count: int) -> tuple[list[str], object]:
    """A rebuild from a log that has but the first records."""
    whole, url = segments(directory / f"log{count}", SEGMENT), sqlite_url(directory / f"only{count}.db")
    append(whole, DRAFTS[:count])
    rebuild(spark, whole, url)
    return state(url)


@pytest.fixture
def partly(spark: SparkSession, tmp_path: Path, uri: str) -> SegmentLog:
    """A log whose first part is archived, and which has gone on since."""
    log = segments(tmp_path / "partly", SEGMENT)
    append(log, DRAFTS[:LATER])
    archive_log(spark, log, uri)
    append(log, DRAFTS[LATER:])
    return log


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "archive")


def test_archive_and_log_hold_everything_once(
    spark: SparkSession, log: Log, uri: str, store_url: str, expected: tuple[list[str], object]
) -> None:
    append(log, DRAFTS[:LATER])
    archive_log(spark, log, uri)
    append(log, DRAFTS[LATER:])
    rebuild(spark, log, store_url, uri)
    assert state(store_url) == expected


def test_a_log_without_its_archived_segments_is_as_good(
    spark: SparkSession, partly: SegmentLog, uri: str, tmp_path: Path, expected: tuple[list[str], object]
) -> None:
    applied = {lane.name: lane.end.as_int for lane in partly.list_lanes()}
    dropped = drop_archived(partly, uri, applied)
    assert len(dropped) > 2
    assert partly.list_lanes()[0].start.segment == dropped[-1] + 1
    url = sqlite_url(tmp_path / "store.db")
    rebuild(spark, partly, url, uri)
    assert state(url) == expected
    archive_log(spark, partly, uri)
    drop_archived(partly, uri, applied)
    assert numbers(partly.directory) == (partly.list_lanes()[0].end.segment,)
    url = sqlite_url(tmp_path / "again.db")
    rebuild(spark, partly, url, uri)
    assert state(url) == expected


def test_a_stream_goes_on_over_dropped_segments(
    spark: SparkSession, tmp_path: Path, uri: str, expected: tuple[list[str], object]
) -> None:
    log, url = segments(tmp_path / "log", SEGMENT), sqlite_url(tmp_path / "store.db")
    engine = open_migrated(url)
    for part, drafts in enumerate((DRAFTS[:LATER], DRAFTS[LATER:])):
        append(log, drafts)
        query = run_stream(spark, log, engine, tmp_path / f"checkpoint{part}")
        query.catch_up()
        query.stop()
        archive_log(spark, log, uri)
        assert drop_archived(log, uri, read_progress(engine))
    engine.dispose()
    assert state(url) == expected


def test_only_what_archive_and_store_have_is_dropped(partly: SegmentLog, uri: str) -> None:
    (lane,) = partly.list_lanes()
    assert drop_archived(partly, uri, {}) == ()
    assert drop_archived(partly, uri, {LANE: lane.start.as_int + 1}) == ()
    assert drop_archived(partly, "/nowhere/archive", {LANE: lane.end.as_int}) == ()
    with partly.prevent_deletion(), pytest.raises(LogBusyError):
        drop_archived(partly, uri, {LANE: lane.end.as_int})
    archived = open_archive(uri).reach(LANE)
    assert archived is not None
    drop_archived(partly, uri, {LANE: lane.end.as_int})
    assert partly.list_lanes()[0].start.as_int <= archived.until < lane.end.as_int


def test_as_of_is_a_store_of_what_was_received_before(
    spark: SparkSession, partly: SegmentLog, uri: str, store_url: str, tmp_path: Path
) -> None:
    counts = (LATER + 50, 0, 60, LATER) if store_url.startswith("sqlite") else (LATER + 50,)
    for count in counts:
        url = sqlite_url(tmp_path / f"then{count}.db") if count <= LATER else store_url
        rebuild_as_of(spark, partly, url, uri, FIRST + count * HOUR)
        assert state(url) == only(spark, tmp_path, count)


def test_as_of_in_a_topic_is_when_the_broker_has_it(spark: SparkSession, log: Log, uri: str, tmp_path: Path) -> None:
    append(log, DRAFTS[:100])
    archive_log(spark, log, uri)
    append(log, DRAFTS[100:LATER])
    for number, before in enumerate((0, 2**53)):
        url = sqlite_url(tmp_path / f"then{number}.db")
        rebuild_as_of(spark, log, url, uri, before)
        assert state(url) == only(spark, tmp_path, LATER if before else 0)


def test_a_new_place_is_one_where_nothing_was_derived(
    spark: SparkSession, partly: SegmentLog, uri: str, store_url: str
) -> None:
    check_is_new(store_url)
    check_is_new(store_url)
    rebuild(spark, partly, store_url, uri)
    with pytest.raises(StoreError, match="--into needs a new or empty store"):
        check_is_new(store_url)


def test_no_stream_goes_on_from_the_past(spark: SparkSession, partly: SegmentLog, uri: str, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "then.db")
    rebuild_as_of(spark, partly, url, uri, FIRST + LATER * HOUR)
    engine = open_store(url)
    with pytest.raises(StoreError, match="what was received before 2026-09-29T22:13:20Z"):
        run_stream(spark, partly, engine, tmp_path / "checkpoint")
    engine.dispose()


def test_a_lost_log_is_derived_from_its_archive(
    spark: SparkSession, partly: SegmentLog, uri: str, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path / "store.db")
    rebuild(spark, segments(tmp_path / "lost"), url, uri)
    assert state(url) == only(spark, tmp_path, LATER)


def test_a_gap_is_an_error(spark: SparkSession, partly: SegmentLog, uri: str, tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "store.db")
    drop_archived(partly, uri, {lane.name: lane.end.as_int for lane in partly.list_lanes()})
    for archive in (None, "/nowhere/archive"):
        with pytest.raises(LogGapError, match="lane log from 1:16 to"):
            rebuild(spark, partly, url, archive)
    engine = open_migrated(url)
    with pytest.raises(LogGapError, match="lane log from 1:16 to"):  # what only the archive has is not streamed
        run_stream(spark, partly, engine, tmp_path / "checkpoint")
    engine.dispose()
    for segment in numbers(partly.directory)[:-1]:
        segment_path(partly.directory, segment).unlink()
    with pytest.raises(LogGapError, match=f"to {partly.list_lanes()[0].start} are neither"):
        rebuild(spark, partly, url, uri)
