"""The archive holds every record of the log once, in order and unchanged, whoever archives and whenever."""

from pathlib import Path
from threading import Barrier, Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from fixtures.both_logs import records_of
from fixtures.received_events import FIRST, HOUR, append, hourly, segments
from whence.derive.archive import copy
from whence.derive.archive.compaction import compact_archive
from whence.derive.archive.copy import Sizes, archive_log
from whence.derive.archive.table import Reach, find_archive, open_archive
from whence.derive.delta.table import storage
from whence.derive.reading.records import COPY, batch_records, to_records
from whence.derive.sources.event_log import make_source
from whence.errors import LogGapError, TableBusyError
from whence.log import Kind, Log, Record
from whence.log.record import Draft
from whence.log.segments.files import segment_path
from whence.log.segments.log import LANE, SegmentLog

SMALL = Sizes(task=300_000, portion=900_000)
DAY = 24 * HOUR


def held(uri: str) -> list[Record]:
    """All records of the archive, file by file; each file must be in order and of its day."""
    found: list[Record] = []
    for file in open_archive(uri).files():
        table = pq.read_table(file.path, filesystem=storage(uri), partitioning=None)
        mine = [one for batch in table.to_batches() for one in to_records(batch)]
        positions = [one.position.as_int for one in mine]
        assert positions == sorted(positions)
        assert (file.records, file.first, file.last) == (len(mine), positions[0], positions[-1])
        assert {one.received_at // DAY for one in mine} == {file.received_from // DAY}
        found += mine
    return sorted(found, key=lambda one: one.position)


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "archive")


@pytest.fixture
def filled(tmp_path: Path) -> SegmentLog:
    log = segments(tmp_path / "filled")
    append(log, hourly(250))
    return log


def test_the_archive_holds_the_log_and_grows_with_it(spark: SparkSession, log: Log, uri: str) -> None:
    assert archive_log(spark, log, uri).records == 0
    append(log, hourly(250))
    first = archive_log(spark, log, uri, SMALL)
    assert held(uri) == sorted(records_of(log), key=lambda one: one.position)
    assert first.records == len(held(uri)) == 250
    assert archive_log(spark, log, uri).records == 0
    append(log, hourly(80, seed=4))
    again = archive_log(spark, log, uri)
    assert [(one.name, one.start) for one in again.lanes] == [(one.name, one.end) for one in first.lanes]
    assert [(one.name, one.end) for one in again.lanes] == [(one.name, one.end) for one in log.list_lanes()]
    assert again.records == 80
    assert held(uri) == sorted(records_of(log), key=lambda one: one.position)


def test_any_bytes_come_back(spark: SparkSession, log: Log, uri: str) -> None:
    texts = [b"", b"\0\xff\xfe", bytes(3_000_000), "\U0001f9ff\ud7ff".encode()]
    for text in texts:
        draft = Draft(kind=Kind.QUARANTINED, key=bytes(16), received_at=FIRST, payload=text, pointer="/ä", reason="")
        append(log, [draft])
    archive_log(spark, log, uri)
    assert sorted(one.payload for one in held(uri)) == sorted(texts)
    assert held(uri) == sorted(records_of(log), key=lambda one: one.position)


def test_all_kinds_of_records_come_back(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    archive_log(spark, filled, uri)
    assert {one.kind for one in held(uri)} == set(Kind)
    assert held(uri) == records_of(filled)


def test_a_clock_that_is_set_back_and_forth_splits_files_by_day(spark: SparkSession, tmp_path: Path, uri: str) -> None:
    log = segments(tmp_path / "log")
    days = [0, 1, 2, 0, 3, 4, 5, 6, 0, 1, 9]
    received = [FIRST + day * DAY for day in days for _ in range(3)]
    drafts = [
        Draft(kind=Kind.EVENT, key=place.to_bytes(16, "big"), received_at=time, payload=b"{}")
        for place, time in enumerate(received)
    ]
    append(log, drafts)
    archive_log(spark, log, uri)
    assert held(uri) == records_of(log)
    assert {file.day for file in open_archive(uri).files()} == {f"2026-09-{21 + day}" for day in days}


def test_records_out_of_order_are_refused(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_batches(batch_records(reversed(records_of(filled)))))
    with pytest.raises(Exception, match="out of order"):
        copy.append_records(open_archive(uri), filled.list_lanes(), frame.coalesce(1))
    assert held(uri) == []


def test_of_two_archivers_at_once_one_wins(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    first, second = open_archive(uri), open_archive(uri)
    lanes = filled.list_lanes()
    frame = make_source(filled).batch(spark, lanes, COPY, SMALL.task)
    copy.append_records(first, lanes, frame)
    for stale in (second, open_archive(uri)):
        with pytest.raises(TableBusyError, match="another writer committed first"):
            copy.append_records(stale, lanes, frame)
    assert held(uri) == records_of(filled)


def test_many_archivers_make_one_archive(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    gate = Barrier(3)
    ended: list[object] = []

    def run() -> None:
        gate.wait()
        try:
            ended.append(archive_log(spark, filled, uri, SMALL))
        except TableBusyError as error:
            ended.append(error)

    threads = [Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 3
    archive_log(spark, filled, uri)
    assert held(uri) == records_of(filled)


def test_small_files_of_a_past_day_become_one(spark: SparkSession, tmp_path: Path, uri: str) -> None:
    log = segments(tmp_path / "log")
    for begin in range(0, 100, 10):
        append(log, hourly(100, every=HOUR // 10)[begin : begin + 10])
        archive_log(spark, log, uri)
    append(log, hourly(10, seed=5, every=100 * HOUR)[1:])
    archive_log(spark, log, uri)
    crowded = open_archive(uri)
    before = [file.day for file in crowded.files()]
    assert before[:10] == ["2026-09-21"] * 10
    compact_archive(spark, uri)
    assert held(uri) == records_of(log)
    assert [file.day for file in open_archive(uri).files()] == ["2026-09-21", *before[10:]]
    (lane,) = log.list_lanes()
    assert open_archive(uri).reach(LANE) == Reach(lane.start.as_int, lane.end.as_int)
    with pytest.raises(TableBusyError):  # of two that tidy at once, one
        crowded.exchange(crowded.files()[:10], open_archive(uri).files()[:1], 0)
    assert held(uri) == records_of(log)


def test_what_is_written_while_another_tidies_stays(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    archive_log(spark, filled, uri)
    stale = open_archive(uri)
    append(filled, hourly(20, seed=6))
    archive_log(spark, filled, uri)
    with pytest.raises(TableBusyError):
        stale.exchange(stale.files()[:1], stale.files()[1:2], 0)
    assert held(uri) == records_of(filled)


def test_the_archive_of_another_log_is_refused(
    spark: SparkSession, filled: SegmentLog, tmp_path: Path, uri: str
) -> None:
    archive_log(spark, filled, uri)
    for count in (30, 400):
        other = segments(tmp_path / f"other{count}")
        append(other, hourly(count, seed=9))
        # A longer one is not found out by its end, but by what an executor reads there.
        with pytest.raises(Exception, match=r"made from another log|does not end by|fails its checksum"):
            archive_log(spark, other, uri)
    assert held(uri) == records_of(filled)


def test_a_log_that_lost_what_is_not_archived_is_refused(spark: SparkSession, filled: SegmentLog, uri: str) -> None:
    archive_log(spark, filled, uri)
    (lane,) = filled.list_lanes()
    append(filled, hourly(400, seed=7))
    for segment in range(1, lane.end.segment + 2):
        segment_path(filled.directory, segment).unlink()
    (left,) = filled.list_lanes()
    with pytest.raises(LogGapError, match=f"from {lane.end} to {left.start}"):
        archive_log(spark, filled, uri)


def test_there_is_no_archive_before_the_first_run(uri: str) -> None:
    assert find_archive(uri) is None
