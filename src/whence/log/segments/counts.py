"""How many records, and how many bytes, the log had before a position, without reading it all again.

The counts of closed segments are kept in the file `COUNTS`, so that they outlive their segments too. It holds nothing
that cannot be counted anew as long as the segments are there.
"""

import json
import os
from functools import lru_cache
from pathlib import Path
from threading import Lock

from whence.log.port import Amount
from whence.log.position import Position
from whence.log.segments.codec import extent
from whence.log.segments.files import FIRST_OFFSET, segment_path, segments
from whence.log.segments.read import mapped

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
        for one in uncounted:
            size = segment_path(self._directory, one).stat().st_size
            self._closed[one] = self._within(Position(one, size)), size - FIRST_OFFSET
        if uncounted:
            _save(self._path, self._closed)
        return [count for one, count in self._closed.items() if one < segment]

    def _learn(self) -> None:
        """Take over what other processes have counted: their segments may be gone."""
        written_at = self._path.stat().st_mtime_ns if self._path.exists() else 0
        if written_at != self._read_at:
            self._closed, self._read_at = _load(self._path) | self._closed, written_at

    def _within(self, position: Position) -> int:
        """How many records of its segment begin before a position."""
        if position.offset <= FIRST_OFFSET or not segment_path(self._directory, position.segment).exists():
            return 0
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
