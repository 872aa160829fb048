"""Sealing of damage, so that collecting and deriving continue past it and it stays visible."""

import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path

from whence.log.port import Seal
from whence.log.position import Position
from whence.log.segments.counts import closed_sizes
from whence.log.segments.damage_detection import find_damaged_ranges
from whence.log.segments.damaged_ranges import lock_seals, read_seals, sound_ranges, write_seals
from whence.log.segments.files import (
    FIRST_OFFSET,
    MAGIC,
    ORIGIN,
    create_segment,
    hold_log_lock,
    list_segments,
    open_head,
    segment_path,
    write_all,
)
from whence.log.segments.read import committed_end, map_segment

logger = logging.getLogger(__name__)


def seal_damage(directory: Path, end: Position | None = None, since: int = 0) -> tuple[Seal, ...]:
    """Find and seal the damage before `end` (by default the committed end), from the segment `since` on.

    Returns the new seals. A missing segment is recreated without records. Raises LogCorruptError, OSError.
    """
    with lock_seals(directory):
        end = end or committed_end(directory)
        present = list_segments(directory)
        first = max(since, min(present, default=end.segment))
        found = [seal for one in range(first, end.segment + 1) for seal in _find_segment_damage(directory, one, end)]
        if found:
            write_seals(directory, [*read_seals(directory), *found])
    for seal in found:
        logger.error("the event log is damaged from %s to %s: sealed; see `whence log repair`", seal.begin, seal.end)
    return tuple(found)


def is_empty(directory: Path) -> bool:
    """Whether there is no log yet, or the log never had a record. Raises LogCorruptError."""
    return committed_end(directory) == ORIGIN and list_segments(directory) in ((), (ORIGIN.segment,))


def begin_after(directory: Path, position: Position, count: int) -> None:
    """Start an empty log after a position that an earlier log reached, which had `count` records until then.

    The records that the earlier log had after the position are unknown; a seal records that. Raises LogBusyError while
    the log is open, OSError.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o750)
    with hold_log_lock(directory), lock_seals(directory):
        segment_path(directory, ORIGIN.segment).unlink(missing_ok=True)
        _make_placeholder(directory, position.segment, position.offset)
        begin = Seal(position.segment, FIRST_OFFSET, position.offset, "lost", _now_micros(), (), count)
        rest = Seal(
            position.segment, position.offset, position.offset, "sealed", _now_micros(), ((position.offset, ""),), 1
        )
        write_seals(directory, [begin, rest])
        os.close(create_segment(directory, position.segment + 1))
        os.close(open_head(directory, Position(position.segment + 1, FIRST_OFFSET)))


def _find_segment_damage(directory: Path, segment: int, end: Position) -> Iterable[Seal]:
    path, known = segment_path(directory, segment), closed_sizes(directory).get(segment, 0)
    is_missing = not path.exists()
    high = end.offset if segment == end.segment else max(known, 0 if is_missing else path.stat().st_size)
    if is_missing or path.stat().st_size < high or _first_bytes(path) != MAGIC:
        _make_placeholder(directory, segment, high)
    if is_missing and high <= FIRST_OFFSET:
        return [_make_seal(segment, FIRST_OFFSET, FIRST_OFFSET, ((FIRST_OFFSET, ""),))]
    if high <= FIRST_OFFSET:
        return []
    found: list[Seal] = []
    with map_segment(directory, segment, high) as data:
        for low, stop in sound_ranges(directory, segment, FIRST_OFFSET, high):
            found += [
                _make_seal(segment, one.start, one.stop, one.records) for one in find_damaged_ranges(data, low, stop)
            ]
    return found


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(FIRST_OFFSET)


def _make_placeholder(directory: Path, segment: int, size: int) -> None:
    """Give a segment its magic bytes and its size; lost bytes read as zeros."""
    fd = os.open(segment_path(directory, segment), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        write_all(fd, MAGIC, 0)
        os.ftruncate(fd, max(size, os.fstat(fd).st_size))
        os.fsync(fd)
    finally:
        os.close(fd)


def _make_seal(segment: int, start: int, stop: int, records: tuple[tuple[int, str], ...]) -> Seal:
    return Seal(segment, start, stop, "sealed", _now_micros(), records, len(records))


def _now_micros() -> int:
    return time.time_ns() // 1_000
