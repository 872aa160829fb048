"""Counts of the records and bytes before a position, without reading the whole log again.

The counts of closed segments are stored in the file `COUNTS`, so that they outlive their segments. While the segments
exist, everything in it can be counted again.
"""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from whence.log.port import Amount, Seal
from whence.log.position import Position
from whence.log.segments.codec import record_length
from whence.log.segments.damaged_ranges import list_gaps, sound_ranges
from whence.log.segments.files import FIRST_OFFSET, list_segments, segment_path
from whence.log.segments.read import map_segment

_MAX_REMEMBERED = 8


def counts_path(directory: Path) -> Path:
    """The path of the file with the counts."""
    return directory / "COUNTS"


class _Counts:
    """The counts of one directory. Thread-safe."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = counts_path(directory)
        self._lock = Lock()
        self._closed: dict[int, tuple[int, int]] = {}
        self._known_counts: dict[Position, int] = {}
        """Records before a position in its own segment: counting continues from there."""
        self._read_at = -1
        """The modification time of the file when it was last read, in nanoseconds."""

    def before(self, position: Position) -> Amount:
        """The amount of records before a position. Raises LogCorruptError."""
        with self._lock:
            earlier = self._closed_before(position.segment)
            within = self._count_within(position)
        records = sum(count for count, _ in earlier) + within
        return Amount(records, sum(size for _, size in earlier) + max(position.offset - FIRST_OFFSET, 0))

    def _closed_before(self, segment: int) -> list[tuple[int, int]]:
        self._merge_stored_counts()
        uncounted = [one for one in list_segments(self._directory) if one < segment and one not in self._closed]
        sealed = {one: self._count_closed(one) for one in uncounted if list_gaps(self._directory, one)}
        fresh = {one: self._count_closed(one) for one in uncounted if one not in sealed}
        if fresh:
            self._closed |= fresh
            _save_counts(self._path, self._closed)
        return [count for one, count in (self._closed | sealed).items() if one < segment]

    def _count_closed(self, segment: int) -> tuple[int, int]:
        size = segment_path(self._directory, segment).stat().st_size
        return self._count_within(Position(segment, size)), size - FIRST_OFFSET

    def _merge_stored_counts(self) -> None:
        """Merge the counts of other processes: their segments may be deleted."""
        written_at = self._path.stat().st_mtime_ns if self._path.exists() else 0
        if written_at != self._read_at:
            self._closed, self._read_at = _load_counts(self._path) | self._closed, written_at

    def _count_within(self, position: Position) -> int:
        """The number of records in the position's segment that begin before it."""
        if position.offset <= FIRST_OFFSET or not segment_path(self._directory, position.segment).exists():
            return 0
        if gaps := list_gaps(self._directory, position.segment):
            return self._count_within_sealed(position, gaps)
        begin = Position(position.segment, FIRST_OFFSET)
        known = [one for one in self._known_counts if begin <= one <= position]
        place = max(known, default=begin)
        offset, count = place.offset, self._known_counts.get(place, 0)
        if offset < position.offset:
            size = segment_path(self._directory, position.segment).stat().st_size
            with map_segment(self._directory, position.segment, size) as data:
                while 0 <= offset < position.offset:
                    offset, count = record_length(data, offset, size), count + 1
            self._known_counts.pop(place, None)
            self._known_counts[Position(position.segment, offset)] = count
            while len(self._known_counts) > _MAX_REMEMBERED:
                del self._known_counts[next(iter(self._known_counts))]
        return count

    def _count_within_sealed(self, position: Position, gaps: Sequence[Seal]) -> int:
        """The same for a segment with sealed ranges: records known to have been in them count, too."""
        gone = sum(gap.count for gap in gaps if gap.start < position.offset or gap.begin == gap.end)
        count, size = 0, segment_path(self._directory, position.segment).stat().st_size
        with map_segment(self._directory, position.segment, size) as data:
            for low, high in sound_ranges(self._directory, position.segment, FIRST_OFFSET, position.offset):
                while 0 <= low < high:
                    low, count = record_length(data, low, size), count + 1
        return count + gone


def closed_sizes(directory: Path) -> dict[int, int]:
    """The sizes of the closed segments that were counted while they were complete."""
    return {segment: size + FIRST_OFFSET for segment, (_, size) in _load_counts(counts_path(directory)).items()}


segment_counts = lru_cache(maxsize=16)(_Counts)
"""The counts of a directory, one shared instance per process."""


def _load_counts(path: Path) -> dict[int, tuple[int, int]]:
    try:
        return {
            int(segment): (int(records), int(size)) for segment, (records, size) in json.loads(path.read_text()).items()
        }
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def _save_counts(path: Path, closed: dict[int, tuple[int, int]]) -> None:
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(closed))
    fresh.replace(path)
