"""How many records, and how many bytes, the log had before a position, without reading it all again.

The counts of closed segments are kept in the file `COUNTS`, so that they outlive their segments too. It holds nothing
that cannot be counted anew as long as the segments are there.
"""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

from whence.log.port import Amount, Seal
from whence.log.position import Position
from whence.log.segments.codec import extent
from whence.log.segments.files import FIRST_OFFSET, segment_path, segments
from whence.log.segments.read import mapped
from whence.log.segments.seals import gaps_of, sound_ranges

_REMEMBERED = 8


def counts_path(directory: Path) -> Path:
    """The file of the counts."""
    return directory / "COUNTS"


class _Counts:
    """The counts of one directory. For any thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = counts_path(directory)
        self._lock = Lock()
        self._closed: dict[int, tuple[int, int]] = {}
        self._places: dict[Position, int] = {}
        """Records before a place in its own segment: where counting goes on."""
        self._read_at = -1
        """When the file that was read last was written, nanoseconds."""

    def before(self, position: Position) -> Amount:
        """Raises LogCorruptError."""
        with self._lock:
            earlier = self._closed_before(position.segment)
            within = self._within(position)
        records = sum(count for count, _ in earlier) + within
        return Amount(records, sum(size for _, size in earlier) + max(position.offset - FIRST_OFFSET, 0))

    def _closed_before(self, segment: int) -> list[tuple[int, int]]:
        self._learn()
        uncounted = [one for one in segments(self._directory) if one < segment and one not in self._closed]
        sealed = {one: self._count_closed(one) for one in uncounted if gaps_of(self._directory, one)}
        fresh = {one: self._count_closed(one) for one in uncounted if one not in sealed}
        if fresh:
            self._closed |= fresh
            _save(self._path, self._closed)
        return [count for one, count in (self._closed | sealed).items() if one < segment]

    def _count_closed(self, segment: int) -> tuple[int, int]:
        size = segment_path(self._directory, segment).stat().st_size
        return self._within(Position(segment, size)), size - FIRST_OFFSET

    def _learn(self) -> None:
        """Take over what other processes have counted: their segments may be gone."""
        written_at = self._path.stat().st_mtime_ns if self._path.exists() else 0
        if written_at != self._read_at:
            self._closed, self._read_at = _load(self._path) | self._closed, written_at

    def _within(self, position: Position) -> int:
        """How many records of its segment begin before a position."""
        if position.offset <= FIRST_OFFSET or not segment_path(self._directory, position.segment).exists():
            return 0
        if gaps := gaps_of(self._directory, position.segment):
            return self._within_sealed(position, gaps)
        begin = Position(position.segment, FIRST_OFFSET)
        known = [one for one in self._places if begin <= one <= position]
        place = max(known, default=begin)
        offset, count = place.offset, self._places.get(place, 0)
        if offset < position.offset:
            size = segment_path(self._directory, position.segment).stat().st_size
            with mapped(self._directory, position.segment, size) as data:
                while 0 <= offset < position.offset:
                    offset, count = extent(data, offset, size), count + 1
            self._places.pop(place, None)
            self._places[Position(position.segment, offset)] = count
            while len(self._places) > _REMEMBERED:
                del self._places[next(iter(self._places))]
        return count

    def _within_sealed(self, position: Position, gaps: Sequence[Seal]) -> int:
        """The same where not all records are there: what is known to have been there counts, too."""
        gone = sum(gap.count for gap in gaps if gap.start < position.offset or gap.begin == gap.end)
        count, size = 0, segment_path(self._directory, position.segment).stat().st_size
        with mapped(self._directory, position.segment, size) as data:
            for low, high in sound_ranges(self._directory, position.segment, FIRST_OFFSET, position.offset):
                while 0 <= low < high:
                    low, count = extent(data, low, size), count + 1
        return count + gone


def closed_sizes(directory: Path) -> dict[int, int]:
    """The sizes of closed segments, as far as they were counted while they were whole."""
    return {segment: size + FIRST_OFFSET for segment, (_, size) in _load(counts_path(directory)).items()}


amounts = lru_cache(maxsize=16)(_Counts)
"""The counts of a directory, one for all who ask."""


def _load(path: Path) -> dict[int, tuple[int, int]]:
    try:
        return {
            int(segment): (int(records), int(size)) for segment, (records, size) in json.loads(path.read_text()).items()
        }
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def _save(path: Path, closed: dict[int, tuple[int, int]]) -> None:
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(closed))
    fresh.replace(path)
