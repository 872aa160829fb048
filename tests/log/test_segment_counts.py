"""Counting what a log of segments had before a position: right from anywhere, in any order, and cheap to go on with."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from log.test_both_logs import event
from whence.log import Position
from whence.log.segments import committed_end, read_records, start_position
from whence.log.segments.counts import _Counts
from whence.log.segments.drop import drop_segments
from whence.log.segments.files import FIRST_OFFSET, list_segments, segment_path
from whence.log.segments.write import SegmentSettings, SegmentWriter

RECORDS = 60


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of several segments."""
    made = tmp_path_factory.mktemp("log")
    writer = SegmentWriter(made, SegmentSettings(segment_bytes=2_000))
    for number in range(RECORDS):
        writer.append([event(number)])
    writer.close()
    assert len(list_segments(made)) > 5
    return made


def places(directory: Path) -> list[Position]:
    return [record.position for record in read_records(directory, start_position(directory), committed_end(directory))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_positions_may_be_asked_for_in_any_order(directory: Path, data: st.DataObject) -> None:
    counts, all_ = _Counts(directory), places(directory)
    asked = data.draw(st.lists(st.sampled_from(all_), max_size=15))
    for position in asked:
        assert counts.before(position).records == all_.index(position)
        assert counts.before(position.after).records == all_.index(position) + 1
    assert counts.before(committed_end(directory)).records == RECORDS


def test_bytes_are_those_of_the_records(directory: Path) -> None:
    size = sum(segment_path(directory, one).stat().st_size - FIRST_OFFSET for one in list_segments(directory))
    assert _Counts(directory).before(committed_end(directory)).bytes == size


def test_counts_outlive_their_segments(directory: Path, tmp_path: Path) -> None:
    for path in directory.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "COUNTS").unlink(missing_ok=True)
    before = _Counts(tmp_path).before(committed_end(tmp_path))
    for one in list_segments(tmp_path)[:3]:
        segment_path(tmp_path, one).unlink()
    assert _Counts(tmp_path).before(committed_end(tmp_path)) == before


def test_what_was_dropped_before_anybody_counted_it_is_counted(directory: Path, tmp_path: Path) -> None:
    """By another process than the one that asks, which has looked at the log before."""
    log = tmp_path / "log"
    shutil.copytree(directory, log)
    (log / "COUNTS").unlink(missing_ok=True)
    asks, end = _Counts(log), committed_end(log)
    assert asks.before(start_position(log)).records == 0
    assert len(drop_segments(log, end)) > 3
    assert (asks.before(end).records, _Counts(log).before(end).records) == (RECORDS, RECORDS)


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"1": 7}'])
def test_a_damaged_file_of_counts_is_made_anew(directory: Path, damaged: str) -> None:
    (directory / "COUNTS").write_text(damaged)
    assert _Counts(directory).before(committed_end(directory)).records == RECORDS
    assert _Counts(directory).before(committed_end(directory)).records == RECORDS


def test_what_is_appended_later_is_counted_from_there(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, SegmentSettings(segment_bytes=2_000))
    counts = _Counts(tmp_path)
    for number in range(30):
        writer.append([event(number)])
        assert counts.before(writer.end).records == number + 1
    writer.close()


def test_a_log_that_is_not_there_yet_has_nothing(tmp_path: Path) -> None:
    assert _Counts(tmp_path / "none").before(Position(1, FIRST_OFFSET)).records == 0
