"""Segments dropped from the log's beginning: what is left is whole, for readers, for the writer, after any crash."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.errors import LogBusyError, LogCorruptError
from whence.log import Kind, Position
from whence.log.record import Draft
from whence.log.segments import committed_end, plan_ranges, read_records, start_position
from whence.log.segments.drop import drop_segments, list_droppable, prevent_drops
from whence.log.segments.files import list_segments, open_head, segment_path
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.write import SegmentSettings, SegmentWriter

SMALL = SegmentSettings(segment_bytes=100)


def event(number: int) -> Draft:
    return Draft(kind=Kind.EVENT, key=number.to_bytes(16, "big"), received_at=number, payload=bytes(30))


def served(directory: Path) -> list[int]:
    return [
        record.received_at for record in read_records(directory, start_position(directory), committed_end(directory))
    ]


def filled(directory: Path, count: int) -> list[Position]:
    """Write records, two to a segment; where each begins."""
    writer = SegmentWriter(directory, SMALL)
    places = [writer.append([event(number)])[0].position for number in range(count)]
    writer.close()
    return places


@settings(max_examples=examples(60))
@given(count=st.integers(1, 12), cut=st.integers(0, 12), more=st.integers(0, 5))
def test_what_lies_after_the_cut_is_served(
    tmp_path_factory: pytest.TempPathFactory, count: int, cut: int, more: int
) -> None:
    directory = tmp_path_factory.mktemp("log")
    places = filled(directory, count)
    end = committed_end(directory)
    before = places[cut] if cut < count else end
    kept = [number for number, place in enumerate(places) if place >= before or place.segment == before.segment]
    with_writer = SegmentWriter(directory, SMALL)
    dropped = drop_segments(directory, before)
    assert dropped == tuple(range(1, before.segment))
    assert served(directory) == kept
    for number in range(count, count + more):
        with_writer.append([event(number)])
    with_writer.close()
    SegmentWriter(directory, SMALL).close()
    assert served(directory) == [*kept, *range(count, count + more)]
    assert drop_segments(directory, before) == ()


def test_every_question_is_answered_from_what_is_left(tmp_path: Path) -> None:
    places = filled(tmp_path, 9)
    end = committed_end(tmp_path)
    drop_segments(tmp_path, places[6])
    assert start_position(tmp_path) == places[6]
    log = SegmentLog(tmp_path)
    assert [(lane.start, lane.end) for lane in log.list_lanes()] == [(places[6], end)]
    assert log.oldest_received_at({}) == log.oldest_received_at({LANE: places[6]}) == 6
    assert log.oldest_received_at({LANE: places[8]}) == 8
    assert [low for low, _ in plan_ranges(tmp_path, places[6], end, 1)] == places[6:]
    with pytest.raises(LogCorruptError, match="segment 1 of the log is missing"):
        list(read_records(tmp_path, places[0], end))


def test_the_open_segment_is_never_dropped(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    assert drop_segments(tmp_path, Position(1_000, 16)) == (1, 2)
    assert list_segments(tmp_path) == (3,)
    assert served(tmp_path) == [4]


def test_a_crash_at_any_segment_leaves_a_log(tmp_path: Path) -> None:
    places = filled(tmp_path / "whole", 9)
    for gone in range(5):
        directory = tmp_path / str(gone)
        shutil.copytree(tmp_path / "whole", directory)
        for segment in list_droppable(directory, committed_end(directory))[:gone]:
            segment_path(directory, segment).unlink()
        SegmentWriter(directory, SMALL).close()
        assert served(directory) == list(range(2 * gone, 9))
        drop_segments(directory, committed_end(directory))
        assert served(directory) == [8]
    assert len(places) == 9


def test_a_mark_that_lags_into_what_is_left_is_caught_up(tmp_path: Path) -> None:
    places = filled(tmp_path, 9)
    drop_segments(tmp_path, places[4])
    for lagging in places[4:]:
        os.close(open_head(tmp_path, lagging))
        SegmentWriter(tmp_path, SMALL).close()
        assert served(tmp_path) == [4, 5, 6, 7, 8]


def test_repeats_of_what_was_dropped_are_events_again(tmp_path: Path) -> None:
    places = filled(tmp_path, 9)
    drop_segments(tmp_path, places[6])
    writer = SegmentWriter(tmp_path, SMALL)
    known, unknown = writer.append([event(7), event(0)])
    writer.close()
    assert (known.original, unknown.original) == (places[7], None)


def test_nothing_is_dropped_while_somebody_reads_from_the_beginning(tmp_path: Path) -> None:
    places = filled(tmp_path, 9)
    with prevent_drops(tmp_path), prevent_drops(tmp_path):
        with pytest.raises(LogBusyError, match="reads the log"):
            drop_segments(tmp_path, places[4])
        assert served(tmp_path) == list(range(9))
    assert drop_segments(tmp_path, places[4]) == (1, 2)


def test_a_log_that_is_not_there_has_nothing_to_drop(tmp_path: Path) -> None:
    with prevent_drops(tmp_path / "none"):
        assert drop_segments(tmp_path / "none", Position(9, 16)) == ()
    assert not (tmp_path / "none").exists()
