"""Reading the log: records round-trip, ranges tile it, positions sort, the reading half stays small."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import LogCorruptError
from whence.log import Kind, Position, Record
from whence.log.record import Draft
from whence.log.segments import committed_end, plan_ranges, read_records, start_position
from whence.log.segments.write import SegmentSettings, SegmentWriter

KEYS = [bytes([n]) * 16 for n in range(8)]
POSITIONS = st.builds(Position, st.integers(1, 2**27 - 1), st.integers(0, 2**36 - 1))


def event(key: bytes, payload: bytes = b"{}", at: int = 7) -> Draft:
    return Draft(kind=Kind.EVENT, key=key, received_at=at, payload=payload)


def everything(directory: Path) -> list[Record]:
    return list(read_records(directory, start_position(directory), committed_end(directory)))


@given(POSITIONS, POSITIONS)
def test_positions_round_trip_and_sort_alike_in_every_form(left: Position, right: Position) -> None:
    assert Position.from_int(left.as_int) == left == Position.parse(str(left))
    assert (left < right) == (left.as_int < right.as_int)
    assert left.as_int < 2**63


@pytest.mark.parametrize(
    "text", ["", "1", "1:", ":1", "1:-1", "1:2:3", " 1:2", "1:2\n", "１:2", "1:99999999999", "999999999:1"]
)
def test_a_malformed_position_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"position|log"):
        Position.parse(text)


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    nowhere = tmp_path / "none"
    assert start_position(nowhere) == committed_end(nowhere) == Position(1, 16)
    assert everything(nowhere) == []
    assert list(plan_ranges(nowhere, start_position(nowhere), committed_end(nowhere), 1)) == []


def test_each_kind_comes_back_as_it_went_in(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    bad = Draft(
        kind=Kind.QUARANTINED, key=KEYS[1], received_at=8, payload=b"\xff\x00", pointer="/run/é", reason="not a 'uuid'"
    )
    first, second = writer.append([event(KEYS[0], b'{"a":1}'), bad])
    (repeat,) = writer.append([event(KEYS[0], b'{"a":1}', at=9)])
    writer.close()
    assert repeat.original == first.position
    assert everything(tmp_path) == [
        Record(position=first.position, kind=Kind.EVENT, key="00" * 16, received_at=7, payload=b'{"a":1}'),
        Record(
            position=second.position,
            kind=Kind.QUARANTINED,
            key="01" * 16,
            received_at=8,
            payload=b"\xff\x00",
            pointer="/run/é",
            reason="not a 'uuid'",
        ),
        Record(position=repeat.position, kind=Kind.RECEIPT, key="00" * 16, received_at=9, original=first.position),
    ]


def test_a_repeat_within_one_batch_is_a_receipt_too(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    first, second = writer.append([event(KEYS[0]), event(KEYS[0])])
    writer.close()
    assert (first.original, second.original) == (None, first.position)


def test_quarantined_bodies_are_never_receipts(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    bad = Draft(kind=Kind.QUARANTINED, key=KEYS[0], received_at=8, payload=b"x", reason="r")
    assert [appended.original for appended in writer.append([bad, bad])] == [None, None]
    writer.close()


@given(
    sizes=st.lists(st.integers(0, 400), max_size=30), target=st.integers(1, 2000), segment_bytes=st.integers(50, 1500)
)
def test_ranges_tile_the_log_and_never_cross_a_segment(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], target: int, segment_bytes: int
) -> None:
    directory = tmp_path_factory.mktemp("log")
    writer = SegmentWriter(directory, SegmentSettings(segment_bytes=segment_bytes))
    for number, size in enumerate(sizes):
        writer.append([event(number.to_bytes(16, "big"), b"x" * size)])
    writer.close()
    ranges = tuple(plan_ranges(directory, start_position(directory), committed_end(directory), target))
    pieces = [record for low, high in ranges for record in read_records(directory, low, high)]
    assert pieces == everything(directory)
    assert len(pieces) == len(sizes)
    assert all(low.segment == high.segment and low < high for low, high in ranges)
    assert all(high.offset - low.offset < target + 436 for low, high in ranges)
    for (_, left), (right, _) in pairwise(ranges):
        assert left == right or (right.segment, right.offset) == (left.segment + 1, 16)


def test_reading_can_go_on_from_any_record_over_a_rotation(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, SegmentSettings(segment_bytes=100))
    for key in KEYS:
        writer.append([event(key, b"x" * 50)])
    writer.close()
    records = everything(tmp_path)
    assert records[-1].position.segment > 3
    for number, record in enumerate(records):
        assert list(read_records(tmp_path, record.position, committed_end(tmp_path))) == records[number:]


def test_readers_see_only_what_is_committed(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    writer.append([event(KEYS[0])])
    with (tmp_path / "00000000000000000001.log").open("ab") as segment:
        segment.write(b"half a rec")
    assert len(everything(tmp_path)) == 1
    writer.append([event(KEYS[1])])
    assert [record.key for record in everything(tmp_path)] == ["00" * 16, "01" * 16]
    writer.close()


def test_damage_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    writer.append([event(KEYS[0], b"x" * 100)])
    writer.close()
    path = tmp_path / "00000000000000000001.log"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"y")
    with pytest.raises(LogCorruptError, match="1:16 fails its checksum"):
        everything(tmp_path)
    path.write_bytes(whole[:-1])
    with pytest.raises(LogCorruptError, match="ends before 1:152"):
        everything(tmp_path)
    path.write_bytes(b"X" + whole[1:])
    with pytest.raises(LogCorruptError, match="not a segment"):
        everything(tmp_path)
    path.unlink()
    with pytest.raises(LogCorruptError, match="missing"):
        list(read_records(tmp_path, Position(1, 16), committed_end(tmp_path)))


def test_a_torn_mark_leaves_the_other_one(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    ends = []
    for key in KEYS[:4]:
        writer.append([event(key)])
        ends.append(writer.end)
    writer.close()
    head = tmp_path / "HEAD"
    whole = head.read_bytes()
    head.write_bytes(b"\xff" * 20 + whole[20:])
    one = committed_end(tmp_path)
    head.write_bytes(whole[:4096] + b"\xff" * 20)
    other = committed_end(tmp_path)
    assert sorted([one, other]) == ends[-2:]
    head.write_bytes(b"\xff" * len(whole))
    with pytest.raises(LogCorruptError, match="damaged"):
        committed_end(tmp_path)
