"""Reading the log: pure reads up to the committed mark, without a lock, from any process."""

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.record import Record
from whence.log.segments.codec import decode, extent, is_sound
from whence.log.segments.files import FIRST_OFFSET, MAGIC, ORIGIN, read_head, segment_path, segments
from whence.log.segments.seals import gaps_of, sound_ranges

Range = tuple[Position, Position]


def committed(directory: Path) -> Position:
    """Where the durable log ends; the origin if there is no log yet. Raises LogCorruptError."""
    return read_head(directory) or ORIGIN


def start(directory: Path) -> Position:
    """Where the oldest segment begins; the origin if there is no log yet."""
    present = segments(directory)
    return Position(present[0], FIRST_OFFSET) if present else ORIGIN


def plan(directory: Path, start: Position, end: Position, target_bytes: int) -> Iterator[Range]:
    """Cut [start, end) into ranges of about `target_bytes` (one record at least), none crossing a segment. They are
    contiguous but for sealed ranges.

    `end` must not lie after the committed mark, both must be record boundaries. Only as much of the log is looked at as
    ranges are taken. Raises LogCorruptError.
    """
    for segment, low, high in _by_segment(directory, start, end):
        for left, right in _cut(directory, segment, low, high, target_bytes):
            yield Position(segment, left), Position(segment, right)


def read(directory: Path, start: Position, end: Position) -> Iterator[Record]:
    """The records in [start, end), in order, checked; `end` not after the committed mark. Raises LogCorruptError."""
    for segment, low, high in _by_segment(directory, start, end):
        with mapped(directory, segment, high) as data:
            yield from _records(data, segment, low, high)


def places(directory: Path, since: Position, end: Position) -> Iterator[Position]:
    """Where the records in [since, end) begin, without reading them; segments that were dropped are passed over, and
    records in sealed ranges are named as far as they are known.

    `since` may be any position, `end` not after the committed mark. Raises LogCorruptError.
    """
    for segment in segments(directory):
        if since.segment <= segment <= end.segment:
            size = end.offset if segment == end.segment else _size(directory, segment)
            yield from (one for one in _places_in(directory, segment, size) if one >= since)


def _places_in(directory: Path, segment: int, size: int) -> Iterator[Position]:
    """Where the records of a segment begin, those in sealed ranges too, as far as they are known."""
    sealed = [at for gap in gaps_of(directory, segment) for at, _ in gap.records if at < size or gap.start == gap.stop]
    with mapped(directory, segment, size) as data:
        for low, high in sound_ranges(directory, segment, FIRST_OFFSET, size):
            while sealed and sealed[0] < low:
                yield Position(segment, sealed.pop(0))
            while low < high:
                yield Position(segment, low)
                low = _record_end(data, segment, low, high)
    yield from (Position(segment, at) for at in sealed)


def records_at(directory: Path, positions: Sequence[Position]) -> Sequence[Record | None]:
    """The record that begins at each position; None where that segment was dropped, or the range is known as damaged.

    Raises LogCorruptError where damage is met that is not known yet.
    """
    end, found = committed(directory), dict[Position, Record]()
    present = set(segments(directory))
    for segment in sorted({one.segment for one in positions} & present):
        size = end.offset if segment == end.segment else _size(directory, segment)
        with mapped(directory, segment, size) as data:
            wanted = {one for one in positions if one.segment == segment and FIRST_OFFSET <= one.offset < size}
            for one in wanted - _gone_among(directory, segment, wanted):
                found[one] = next(_records(data, segment, one.offset, _record_end(data, segment, one.offset, size)))
    return [found.get(one) for one in positions]


def _gone_among(directory: Path, segment: int, wanted: Iterable[Position]) -> set[Position]:
    """The positions that are in a damaged range."""
    gaps = gaps_of(directory, segment)
    return {one for one in wanted if any(gap.start <= one.offset < gap.stop for gap in gaps)}


def _by_segment(directory: Path, start: Position, end: Position) -> Iterator[tuple[int, int, int]]:
    for segment in range(start.segment, end.segment + 1):
        low = start.offset if segment == start.segment else FIRST_OFFSET
        high = end.offset if segment == end.segment else _size(directory, segment)
        yield from ((segment, *sound) for sound in sound_ranges(directory, segment, low, high))


def _size(directory: Path, segment: int) -> int:
    try:
        return segment_path(directory, segment).stat().st_size
    except FileNotFoundError:
        raise LogCorruptError(f"segment {segment} of the log is missing") from None


def _cut(directory: Path, segment: int, low: int, high: int, target_bytes: int) -> Iterator[tuple[int, int]]:
    if high - low <= target_bytes:
        yield low, high
        return
    with mapped(directory, segment, high) as data:
        left = right = low
        while right < high:
            right = _record_end(data, segment, right, high)
            if right - left >= target_bytes or right == high:
                yield left, right
                left = right


def _records(data: memoryview, segment: int, low: int, high: int) -> Iterator[Record]:
    while low < high:
        stop = _record_end(data, segment, low, high)
        if not is_sound(data, low, stop):
            raise LogCorruptError(f"the record at {segment}:{low} fails its checksum")
        record = decode(data, segment, low, stop)
        if record is None:
            raise LogCorruptError(f"the record at {segment}:{low} has an unknown kind or a malformed body")
        yield record
        low = stop


def _record_end(data: memoryview, segment: int, offset: int, high: int) -> int:
    stop = extent(data, offset, high)
    if stop < 0:
        raise LogCorruptError(f"the record at {segment}:{offset} does not end by {segment}:{high}")
    return stop


@contextmanager
def mapped(directory: Path, segment: int, size: int) -> Iterator[memoryview]:
    """The first `size` bytes of a segment, mapped. Raises LogCorruptError if it is missing, shorter, or no segment."""
    if _size(directory, segment) < size:
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
