"""Damage inside the durable log: it is sealed, everything else is served, and what another copy has is written back."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.errors import LogCorruptError, LogError
from whence.log import Kind, Position, Record
from whence.log.record import Draft
from whence.log.segments import read_records
from whence.log.segments.copy import copy_segments
from whence.log.segments.damage_sealing import begin_after, is_empty
from whence.log.segments.files import segment_path
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.repair import accept_loss, restore_range
from whence.log.segments.write import SegmentSettings, SegmentWriter

SMALL = SegmentSettings(segment_bytes=600)
RECORDS = 24


def draft(number: int) -> Draft:
    """Events, and now and then a body that is none. Sizes differ."""
    key = number.to_bytes(16, "big")
    if number % 5 == 3:
        return Draft(
            kind=Kind.QUARANTINED, key=key, received_at=number, payload=b"{", pointer="/run/\u00e9", reason="no"
        )
    return Draft(kind=Kind.EVENT, key=key, received_at=number, payload=b"{}" + b" " * (number * 7 % 60))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of several segments, with events, receipts and refused bodies, counted as a running one is."""
    directory = tmp_path_factory.mktemp("whole")
    writer = SegmentWriter(directory, SMALL)
    for number in range(RECORDS):
        writer.append([draft(number), *([draft(number - 1)] if number % 4 == 2 else [])])
    writer.close()
    log = SegmentLog(directory, SMALL)
    assert len(list(directory.glob("*.log"))) >= 3
    log.count_before({LANE: log.list_lanes()[0].end})
    return directory


def served(log: SegmentLog) -> list[Record]:
    (lane,) = log.list_lanes()
    return list(read_records(log.directory, lane.start, lane.end))


def reopen(log: SegmentLog) -> list[Record]:
    """What is served after the collector opened the log again, and took one event more."""
    writer = log.open_writer()
    (appended,) = writer.append([draft(1_000)])
    writer.close()
    found = served(log)
    assert found.pop().position == appended.position
    return found


def copied(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> SegmentLog:
    directory = tmp_path_factory.mktemp("log") / "log"
    shutil.copytree(whole, directory)
    return SegmentLog(directory, SMALL)


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


def zero(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + 90] = bytes(len(content[at : at + 90]))
    path.write_bytes(content)


def lose(path: Path, _at: int) -> None:
    path.unlink()


DAMAGES: list[Callable[[Path, int], None]] = [flip, zero, os.truncate, lose]


@settings(max_examples=examples(120))
@given(data=st.data())
def test_whatever_is_damaged_the_rest_is_served_and_all_comes_back_from_a_copy(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    log, before = copied(whole, tmp_path_factory), served(SegmentLog(whole))
    total = log.count_before({LANE: log.list_lanes()[0].end}).records
    assert total == len(before)
    damage = data.draw(st.sampled_from(DAMAGES))
    # A first segment that is missing may have been dropped: it is a gap before the log, as it always was.
    segment = data.draw(st.integers(2 if damage is lose else 1, log.list_lanes()[0].end.segment))
    path = segment_path(log.directory, segment)
    damage(path, data.draw(st.integers(0, path.stat().st_size - 1)))

    after = reopen(log)
    log.seal_damage({})
    after = served(log)[:-1]
    gone = [one for one in before if one not in after]
    assert [one for one in before if one in after] == after, "what is served is what was written, in order"
    sealed = [one for one in log.list_seals() if one.state == "sealed"]
    for one in gone:
        assert any(seal.begin <= one.position < seal.end or seal.begin == seal.end for seal in sealed)
        assert log.read_records([one.position]) == [None]
    assert log.seal_damage({}) == (), "nothing is sealed twice"
    (lane,) = log.list_lanes()
    assert log.count_before({LANE: lane.end}).records >= total + 1 - len(gone) + len(sealed)

    for seal in sealed:
        stop = seal.end if seal.start < seal.stop else Position(segment + 1, 0)
        within = [one for one in before if seal.begin <= one.position < stop]
        states = [one.state for one in restore_range(log.directory, seal, within, Position(99, 16))]
        assert states == ["restored"]
    assert served(log)[:-1] == before
    assert log.read_records([one.position for one in before]) == before
    assert log.count_before({LANE: lane.end}).records == total + 1
    assert reopen(log)[:-1] == before
    assert [path.read_bytes() for path in sorted(whole.glob("*.log"))[:-1]] == [
        segment_path(log.directory, one).read_bytes() for one in range(1, len(list(whole.glob("*.log"))))
    ]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_mark_does_not_hide_damage(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, damage: Callable[[Path, int], None]
) -> None:
    log, before = copied(whole, tmp_path_factory), served(SegmentLog(whole))
    last = segment_path(log.directory, log.list_lanes()[0].end.segment)
    in_last = [one for one in before if one.position.segment == log.list_lanes()[0].end.segment]
    (log.directory / "HEAD").unlink()
    if damage in (flip, zero):
        damage(last, in_last[0].position.offset + 40)
    after = reopen(log)
    assert after[: len(before) - len(in_last)] == before[: len(before) - len(in_last)]
    if damage is flip:
        assert after == [one for one in before if one != in_last[0]]


def test_a_mark_of_which_nothing_is_left_is_found_again(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    log, before = copied(whole, tmp_path_factory), served(SegmentLog(whole))
    (log.directory / "HEAD").write_bytes(b"\xff" * 8192)
    with pytest.raises(LogCorruptError):
        log.list_lanes()
    assert reopen(log) == before


def test_a_header_that_is_whole_names_the_lost_record(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    log, before = copied(whole, tmp_path_factory), served(SegmentLog(whole))
    flip(segment_path(log.directory, 1), before[1].position.offset + 37)
    (seal,) = log.seal_damage({})
    assert seal.records == ((before[1].position.offset, before[1].key),)
    assert (seal.begin, seal.end, seal.count) == (before[1].position, before[2].position, 1)
    assert list(log.list_positions(Position(1, 0), log.list_lanes()[0].end, 10_000)) == [one.position for one in before]
    lost = accept_loss(log.directory, seal, derived=0)
    assert (lost.state, lost.lost) == ("lost", 1)
    assert log.read_records([before[0].position, before[1].position]) == [before[0], None]
    assert accept_loss(log.directory, lost, derived=1).lost == 0


def test_a_copy_that_ends_within_the_range_restores_what_it_has(
    whole: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log, before = copied(whole, tmp_path_factory), served(SegmentLog(whole))
    first = [one for one in before if one.position.segment == 1]
    zero(segment_path(log.directory, 1), first[1].position.offset)
    (seal,) = log.seal_damage({})
    states = restore_range(log.directory, seal, first[1:2], first[2].position)
    assert [(one.state, one.begin) for one in states] == [
        ("restored", first[1].position),
        ("sealed", first[2].position),
    ]
    assert restore_range(log.directory, states[1], [], first[2].position) == (states[1],)


def test_a_backup_knows_what_is_damaged(whole: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    log = copied(whole, tmp_path_factory)
    flip(segment_path(log.directory, 1), 60)
    log.seal_damage({})
    copy_segments(log.directory, tmp_path / "copy")
    assert SegmentLog(tmp_path / "copy").list_seals() == log.list_seals()
    assert served(SegmentLog(tmp_path / "copy")) == served(log)


def test_damaged_seals_are_an_error_and_not_silence(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    log = copied(whole, tmp_path_factory)
    flip(segment_path(log.directory, 1), 60)
    log.seal_damage({})
    (log.directory / "SEALS").write_text("[{}]")
    with pytest.raises(LogCorruptError, match="SEALS is damaged"):
        served(log)


def test_a_log_begins_behind_one_that_was_lost(tmp_path: Path) -> None:
    log = SegmentLog(tmp_path / "log", SMALL)
    assert is_empty(log.directory)
    begin_after(log.directory, Position(7, 4_000), count=90)
    assert not is_empty(log.directory)
    assert reopen(log) == []
    (lane,) = log.list_lanes()
    assert lane.start <= Position(7, 4_000) < lane.end
    assert served(log)[0].position == Position(8, 16)
    assert log.count_before({LANE: Position(8, 16)}).records == 91, "what was there, and what may have come behind it"
    assert [(one.state, one.begin) for one in log.list_seals()] == [
        ("lost", Position(7, 16)),
        ("sealed", Position(7, 4_000)),
    ]
    other = SegmentLog(tmp_path / "other", SMALL)
    writer = other.open_writer()
    with pytest.raises(LogError, match="another process writes"):
        begin_after(other.directory, Position(7, 4_000), count=90)
    writer.close()
