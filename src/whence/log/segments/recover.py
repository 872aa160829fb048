"""Where the log ends after a crash: a torn tail is cut, damage before the committed mark is sealed."""

import os
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.segments.codec import sound_end
from whence.log.segments.files import (
    FIRST_OFFSET,
    ORIGIN,
    create_segment,
    read_head,
    segment_path,
    segments,
    sync_directory,
    write_all,
)
from whence.log.segments.read import mapped
from whence.log.segments.sealing import seal_damage
from whence.log.segments.survey import find_damage

_sound_from: dict[Path, int] = {}
"""By directory: this process has read the segments before this one for damage."""


def recover(directory: Path, checked: int) -> Position:
    """Make the log whole and durable, and return its end. The caller holds the lock.

    The last `checked` segments are read for damage, closed ones once in a process; older ones when somebody reads them.

    Records after the committed mark that are sound stay (nobody was told that they failed for good); the first that is
    not ends the log. Where something before the mark is damaged, that is sealed and the log goes on in a new segment.
    Raises LogCorruptError, OSError.
    """
    mark = _read_mark(directory)
    present = segments(directory)
    if mark is None and (not present or _is_unborn(directory, present)):
        os.close(create_segment(directory, 1))
        return ORIGIN
    if mark is None:
        mark = _last_sound_end(directory, present[-1])
    since = _first_to_check(present, mark, max(mark.segment - checked + 1, _sound_from.get(directory, 0)))
    is_damaged = bool(seal_damage(directory, mark, since))
    _sound_from[directory] = mark.segment
    end = _sound_end(directory, segments(directory), mark)
    _make_durable(directory, mark, end)
    if not is_damaged:
        return end
    following = Position(max(segments(directory)) + 1, FIRST_OFFSET)
    os.close(create_segment(directory, following.segment))
    return following


def _read_mark(directory: Path) -> Position | None:
    """The committed mark; None if there is none that can be read."""
    try:
        return read_head(directory)
    except LogCorruptError:
        return None


def _is_unborn(directory: Path, present: tuple[int, ...]) -> bool:
    return present == (1,) and segment_path(directory, 1).stat().st_size < FIRST_OFFSET


def _first_to_check(present: tuple[int, ...], mark: Position, since: int) -> int:
    """A segment, or an earlier one if that is missing."""
    missing = set(range(min(present, default=mark.segment), mark.segment)) - set(present)
    return min({*missing, since})


def _last_sound_end(directory: Path, segment: int) -> Position:
    """Where the last sound record of a segment ends: without a mark, what follows it may never have been durable."""
    size = segment_path(directory, segment).stat().st_size
    if size < FIRST_OFFSET:
        return Position(segment, FIRST_OFFSET)
    with mapped(directory, segment, size) as data:
        damage = list(find_damage(data, FIRST_OFFSET, size))
    is_torn = bool(damage) and damage[-1].stop == size
    return Position(segment, damage[-1].start if is_torn else size)


def _sound_end(directory: Path, present: tuple[int, ...], mark: Position) -> Position:
    end = mark
    for segment in range(mark.segment, present[-1] + 1):
        size = segment_path(directory, segment).stat().st_size
        if size < FIRST_OFFSET:
            break
        low = mark.offset if segment == mark.segment else FIRST_OFFSET
        with mapped(directory, segment, size) as data:
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
            # Written again, because after a failed sync the kernel may hold these pages for clean, and a later sync
            # would then promise what no disk has.
            write_all(fd, os.pread(fd, os.fstat(fd).st_size - low, low), low)
            os.fsync(fd)
        finally:
            os.close(fd)
    sync_directory(directory)
