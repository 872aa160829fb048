"""A log that is damaged where the stream has not been: the stream goes on and says so, and what the archive has is
restored and derived; the rest is lost by name. What stream and rebuild make of it is the same at every moment.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from fixtures.both_logs import records_of
from fixtures.migrated_stores import open_migrated
from fixtures.received_events import append, hourly, segments
from services.pipeline_process import derive, driving, has_all, until
from whence.cli.commands.app import app
from whence.derive.archive.copy import archive_log
from whence.derive.archive.table import open_archive
from whence.derive.rebuild import rebuild
from whence.errors import LogCorruptError
from whence.govern.lost_records import find_lost
from whence.log import Position, Record
from whence.log.segments.files import segment_path
from whence.log.segments.log import LANE, SegmentLog
from whence.store.connection.engine import open_store, read_progress, reading, sqlite_url
from whence.store.lifecycle.dump import dump
from whence.store.status.ledger import read_ledger

DRAFTS = hourly(120)
ARCHIVED = 70
SEGMENT = 150_000


def state(url: str) -> tuple[list[str], object]:
    engine = open_store(url)
    found = list(dump(engine)), read_ledger(engine)
    engine.dispose()
    return found


def rebuilt(spark: SparkSession, log: SegmentLog, url: str, archive: str | None = None) -> tuple[list[str], object]:
    rebuild(spark, log, url, archive)
    return state(url)


def flip(log: SegmentLog, record: Record) -> None:
    """Change a byte of a record's body."""
    with segment_path(log.directory, record.position.segment).open("r+b") as file:
        file.seek(record.position.offset + 60)
        (byte,) = file.read(1)
        file.seek(record.position.offset + 60)
        file.write(bytes([byte ^ 1]))


def repair(data: Path, *options: str) -> tuple[int, list[dict[str, object]]]:
    done = CliRunner().invoke(app, ["log", "repair", "--data", str(data), "--output", "json", *options])
    return done.exit_code, json.loads(done.stdout)["damaged"]


def lost_in(url: str, log: SegmentLog) -> Sequence[Position]:
    engine = open_store(url)
    with reading(engine) as connection:
        found = find_lost(log, connection).positions
    engine.dispose()
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory as `whence up` has it."""
    (directory := tmp_path / "data").mkdir()
    return directory


def test_the_stream_goes_on_and_what_is_restored_is_derived(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    log, url, archive = segments(data / "log", SEGMENT), sqlite_url(data / "store.db"), str(data / "archive")
    append(log, DRAFTS[:ARCHIVED])
    archive_log(spark, log, archive)
    append(log, DRAFTS[ARCHIVED:])
    records = records_of(log)
    expected = rebuilt(spark, log, sqlite_url(tmp_path / "whole.db"))
    archived, other = records[ARCHIVED // 2], records[-3]
    for one in (archived, other):
        flip(log, one)

    engine = open_migrated(url)
    with driving([sys.executable, "-m", "whence.derive", *derive(str(log.directory), engine)], tmp_path) as driver:
        until(driver, lambda: has_all(engine, log))
        assert [seal.begin for seal in log.list_seals()] == [archived.position, other.position]
        assert lost_in(url, log) == (archived.position, other.position)
        assert state(url) == rebuilt(spark, log, sqlite_url(tmp_path / "damaged.db"))
        assert archive_log(spark, log, archive).lanes[0].end == other.position, "it stops where it could lose something"
        with pytest.raises(LogCorruptError, match="whence log repair"):
            archive_log(spark, log, archive)

        code, found = repair(data)
        assert (code, [one["state"] for one in found]) == (1, ["restored", "sealed"])
        until(driver, lambda: lost_in(url, log) == (other.position,))
        code, found = repair(data, "--accept-loss")
        assert (code, [one["state"] for one in found]) == (0, ["restored", "lost"])
        assert found[1]["known"] == [{"position": str(other.position), "key": other.key}]
        append(log, [DRAFTS[-3]])  # its producer sends it again
        until(driver, lambda: has_all(engine, log))
    assert driver.returncode == 0
    logged = (tmp_path / "driver.log").read_text()
    assert f"derived the restored range from {archived.position} to" in logged
    assert f"passed the damaged range from {other.position} to" in logged

    assert lost_in(url, log) == (other.position,), "that it was received stays known"
    assert [line for line in state(url)[0] if '"position"' not in line] == [
        line for line in expected[0] if '"position"' not in line
    ]
    assert state(url) == rebuilt(spark, log, sqlite_url(tmp_path / "again.db"))
    archive_log(spark, log, archive)
    assert state(url) == rebuilt(spark, log, sqlite_url(tmp_path / "archived.db"), archive)
    engine.dispose()


def test_after_a_lost_log_positions_begin_behind_the_archive(spark: SparkSession, data: Path) -> None:
    log, url, archive = segments(data / "log", SEGMENT), sqlite_url(data / "store.db"), str(data / "archive")
    append(log, DRAFTS[:ARCHIVED])
    archive_log(spark, log, archive)
    expected = rebuilt(spark, log, url, archive)
    end = log.list_lanes()[0].end
    new = segments(data / "new", SEGMENT)
    assert rebuilt(spark, new, url, archive) == expected
    (lane,) = new.list_lanes()
    assert lane.end > end
    assert (tuple(read_progress(open_store(url)).values())) == (lane.end.as_int,)
    append(new, DRAFTS[ARCHIVED:])
    assert min(one.position for one in records_of(new)) > end
    assert new.read_records([records_of(log)[0].position, Position(end.segment, 16)]) == [None, None]

    code, _ = repair(data, "--log", str(new.directory))
    assert code == 1, "whether the lost log had more is not known"
    code, found = repair(data, "--log", str(new.directory), "--accept-loss")
    assert (code, {one["state"] for one in found}) == (0, {"lost"})
    archive_log(spark, new, archive)
    reach = open_archive(archive).reach(LANE)
    assert reach is not None
    assert reach.until == new.list_lanes()[0].end.as_int
    both = rebuilt(spark, new, url, archive)
    old = rebuilt(spark, _whole(data), sqlite_url(data / "other.db"))
    assert [line for line in both[0] if '"position"' not in line] == [
        line for line in old[0] if '"position"' not in line
    ]
    assert both[1] == old[1]


def _whole(data: Path) -> SegmentLog:
    log = segments(data / "whole", SEGMENT)
    append(log, DRAFTS)
    return log
