"""Recovery after a crash: a torn tail is truncated, damage before the committed end is sealed."""

import os
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.segments.codec import sound_end
from whence.log.segments.damage_detection import find_damaged_ranges
from whence.log.segments.damage_sealing import seal_damage
from whence.log.segments.files import (
    FIRST_OFFSET,
    ORIGIN,
    create_segment,
    list_segments,
    read_head,
    segment_path,
    sync_directory,
    write_all,
)
from whence.log.segments.read import map_segment

_sound_from: dict[Path, int] = {}
"""By directory: the segment before which this process has checked all segments for damage."""


def recover(directory: Path, checked: int) -> Position:
    """Make the log consistent and durable, and return its end. The caller holds the lock.

    The last `checked` segments are checked for damage, closed ones once per process; older ones when they are read.

    Sound records after the committed end stay: no sender received a final rejection of them. The first unsound one ends
    the log. If there is damage before the committed end, it is sealed and the log continues in a new segment. Raises
    LogCorruptError, OSError.
    """
    mark = _read_mark(directory)
    present = list_segments(directory)
    if mark is None and (not present or _is_new_log(directory, present)):
        os.close(create_segment(directory, 1))
        return ORIGIN
    if mark is None:
        mark = _last_sound_end(directory, present[-1])
    since = _first_segment_to_check(present, mark, max(mark.segment - checked + 1, _sound_from.get(directory, 0)))
    is_damaged = bool(seal_damage(directory, mark, since))
    _sound_from[directory] = mark.segment
    end = _find_sound_end(directory, list_segments(directory), mark)
    _make_durable(directory, mark, end)
    if not is_damaged:
        return end
    following = Position(max(list_segments(directory)) + 1, FIRST_OFFSET)
    os.close(create_segment(directory, following.segment))
    return following


def _read_mark(directory: Path) -> Position | None:
    """The committed end, or None if it cannot be read."""
    try:
        return read_head(directory)
    except LogCorruptError:
        return None


def _is_new_log(directory: Path, present: tuple[int, ...]) -> bool:
    return present == (1,) and segment_path(directory, 1).stat().st_size < FIRST_OFFSET


def _first_segment_to_check(present: tuple[int, ...], mark: Position, since: int) -> int:
    """The segment to check from: `since`, or an earlier one that is missing."""
    missing = set(range(min(present, default=mark.segment), mark.segment)) - set(present)
    return min({*missing, since})


def _last_sound_end(directory: Path, segment: int) -> Position:
    """The end of a segment's last sound record: without a committed end, data after it may never have been durable."""
    size = segment_path(directory, segment).stat().st_size
    if size < FIRST_OFFSET:
        return Position(segment, FIRST_OFFSET)
    with map_segment(directory, segment, size) as data:
        damage = list(find_damaged_ranges(data, FIRST_OFFSET, size))
    is_torn = bool(damage) and damage[-1].stop == size
    return Position(segment, damage[-1].start if is_torn else size)


def _find_sound_end(directory: Path, present: tuple[int, ...], mark: Position) -> Position:
    end = mark
    for segment in range(mark.segment, present[-1] + 1):
        size = segment_path(directory, segment).stat().st_size
        if size < FIRST_OFFSET:
            break
        low = mark.offset if segment == mark.segment else FIRST_OFFSET
        with map_segment(directory, segment, size) as data:
            sound = sound_end(data, low, size)
        if segment == end.segment or sound > FIRST_OFFSET:
            end = Position(segment, sound)
        if sound < size:
            break
    return end


def _make_durable(directory: Path, mark: Position, end: Position) -> None:
    for segment in range(mark.segment, end.segment + 1):
        low = mark.offset if segment == mark.segment else FIRST_OFFSET
        fd = os.open(segment_path(directory, segment), os.O_RDWR | os.O_CLOEXEC)
        try:
            if segment == end.segment:
                os.ftruncate(fd, end.offset)
            # Written again: after a failed sync the kernel may hold these pages as clean, and a later sync would then
            # report success for data that never reached the disk.
            write_all(fd, os.pread(fd, os.fstat(fd).st_size - low, low), low)
            os.fsync(fd)
        finally:
            os.close(fd)
    sync_directory(directory)
