"""Reading the log up to its committed end: without a lock, from any process."""

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.record import Kind, Record
from whence.log.segments.codec import decode, is_sound, record_length
from whence.log.segments.damaged_ranges import list_gaps, sound_ranges
from whence.log.segments.files import FIRST_OFFSET, MAGIC, ORIGIN, list_segments, read_head, segment_path

Range = tuple[Position, Position]


def committed_end(directory: Path) -> Position:
    """The committed end of the log; the origin if there is no log yet. Raises LogCorruptError."""
    return read_head(directory) or ORIGIN


def start_position(directory: Path) -> Position:
    """The start of the oldest segment; the origin if there is no log yet."""
    present = list_segments(directory)
    return Position(present[0], FIRST_OFFSET) if present else ORIGIN


def plan_ranges(directory: Path, start_position: Position, end: Position, target_bytes: int) -> Iterator[Range]:
    """Split [start, end) into ranges of about `target_bytes` (at least one record). No range crosses a segment. They
    are contiguous except for sealed ranges.

    `end` must not be after the committed end; both must be record boundaries. The log is read only as far as ranges are
    consumed. Raises LogCorruptError.
    """
    for segment, low, high in _split_by_segment(directory, start_position, end):
        for left, right in _cut_ranges(directory, segment, low, high, target_bytes):
            yield Position(segment, left), Position(segment, right)


def read_records(directory: Path, start_position: Position, end: Position) -> Iterator[Record]:
    """The checked records in [start, end), in order; `end` not after the committed end. Raises LogCorruptError."""
    for segment, low, high in _split_by_segment(directory, start_position, end):
        with map_segment(directory, segment, high) as data:
            yield from _decode_records(data, segment, low, high)


def find_events(directory: Path, text: bytes, start_position: Position, end: Position) -> Iterator[Record]:
    """The checked events in [start, end) whose payload contains `text`, in order. Other records are skipped by their
    headers.

    `end` must not be after the committed end. Raises LogCorruptError.
    """
    for segment, low, high in _split_by_segment(directory, start_position, end):
        with map_segment(directory, segment, high) as data:
            yield from (
                one for one in _decode_records_containing(data, text, segment, low, high) if one.kind is Kind.EVENT
            )


def list_record_positions(directory: Path, since: Position, end: Position) -> Iterator[Position]:
    """The positions of the records in [since, end), without reading the records. Skips deleted segments, and lists the
    known records of sealed ranges.

    `since` may be any position; `end` must not be after the committed end. Raises LogCorruptError.
    """
    for segment in list_segments(directory):
        if since.segment <= segment <= end.segment:
            size = end.offset if segment == end.segment else _segment_size(directory, segment)
            yield from (one for one in _list_segment_positions(directory, segment, size) if one >= since)


def _list_segment_positions(directory: Path, segment: int, size: int) -> Iterator[Position]:
    """The positions of a segment's records, including the known records of sealed ranges."""
    sealed = [
        at for gap in list_gaps(directory, segment) for at, _ in gap.records if at < size or gap.start == gap.stop
    ]
    with map_segment(directory, segment, size) as data:
        for low, high in sound_ranges(directory, segment, FIRST_OFFSET, size):
            while sealed and sealed[0] < low:
                yield Position(segment, sealed.pop(0))
            while low < high:
                yield Position(segment, low)
                low = _record_end(data, segment, low, high)
    yield from (Position(segment, at) for at in sealed)


def read_records_at(directory: Path, positions: Sequence[Position]) -> Sequence[Record | None]:
    """The record at each position; None if its segment was deleted or it is in a known damaged range.

    Raises LogCorruptError for damage that is not known yet.
    """
    end, found = committed_end(directory), dict[Position, Record]()
    present = set(list_segments(directory))
    for segment in sorted({one.segment for one in positions} & present):
        size = end.offset if segment == end.segment else _segment_size(directory, segment)
        with map_segment(directory, segment, size) as data:
            wanted = {one for one in positions if one.segment == segment and FIRST_OFFSET <= one.offset < size}
            for one in wanted - _damaged_positions(directory, segment, wanted):
                found[one] = next(
                    _decode_records(data, segment, one.offset, _record_end(data, segment, one.offset, size))
                )
    return [found.get(one) for one in positions]


def _damaged_positions(directory: Path, segment: int, wanted: Iterable[Position]) -> set[Position]:
    """The positions inside damaged ranges."""
    gaps = list_gaps(directory, segment)
    return {one for one in wanted if any(gap.start <= one.offset < gap.stop for gap in gaps)}


def _split_by_segment(directory: Path, start_position: Position, end: Position) -> Iterator[tuple[int, int, int]]:
    for segment in range(start_position.segment, end.segment + 1):
        low = start_position.offset if segment == start_position.segment else FIRST_OFFSET
        high = end.offset if segment == end.segment else _segment_size(directory, segment)
        yield from ((segment, *sound) for sound in sound_ranges(directory, segment, low, high))


def _segment_size(directory: Path, segment: int) -> int:
    try:
        return segment_path(directory, segment).stat().st_size
    except FileNotFoundError:
        raise LogCorruptError(f"segment {segment} of the log is missing") from None


def _cut_ranges(directory: Path, segment: int, low: int, high: int, target_bytes: int) -> Iterator[tuple[int, int]]:
    if high - low <= target_bytes:
        yield low, high
        return
    with map_segment(directory, segment, high) as data:
        left = right = low
        while right < high:
            right = _record_end(data, segment, right, high)
            if right - left >= target_bytes or right == high:
                yield left, right
                left = right


def _decode_records(data: memoryview, segment: int, low: int, high: int) -> Iterator[Record]:
    while low < high:
        stop = _record_end(data, segment, low, high)
        if not is_sound(data, low, stop):
            raise LogCorruptError(f"the record at {segment}:{low} fails its checksum")
        record = decode(data, segment, low, stop)
        if record is None:
            raise LogCorruptError(f"the record at {segment}:{low} has an unknown kind or a malformed body")
        yield record
        low = stop


def _decode_records_containing(data: memoryview, text: bytes, segment: int, low: int, high: int) -> Iterator[Record]:
    pages = data.obj
    assert isinstance(pages, mmap.mmap)
    while (at := pages.find(text, low, high)) >= 0:
        while (stop := _record_end(data, segment, low, high)) <= at:
            low = stop
        yield from _decode_records(data, segment, low, stop)
        low = stop


def _record_end(data: memoryview, segment: int, offset: int, high: int) -> int:
    stop = record_length(data, offset, high)
    if stop < 0:
        raise LogCorruptError(f"the record at {segment}:{offset} does not end by {segment}:{high}")
    return stop


@contextmanager
def map_segment(directory: Path, segment: int, size: int) -> Iterator[memoryview]:
    """Map the first `size` bytes of a segment. Raises LogCorruptError if it is missing, shorter, or not a segment."""
    if _segment_size(directory, segment) < size:
        raise LogCorruptError(f"segment {segment} of the log ends before {segment}:{size}")
    fd = os.open(segment_path(directory, segment), os.O_RDONLY | os.O_CLOEXEC)
    try:
        pages = mmap.mmap(fd, size, access=mmap.ACCESS_READ)
    finally:
        os.close(fd)
    with pages, memoryview(pages) as data:
        if data[:FIRST_OFFSET] != MAGIC:
            raise LogCorruptError(f"{segment_path(directory, segment)} is not a segment of a Whence log")
        yield data
