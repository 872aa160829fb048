"""Where the log ends after a crash: a torn tail is cut, damage before the committed mark is refused."""

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


def recover(directory: Path) -> Position:
    """Make the log whole and durable, and return its end. The caller holds the lock.

    Records after the committed mark that are sound stay (nobody was told that they failed for good); the first that is
    not ends the log. Raises LogCorruptError if a record before the mark is damaged, OSError.
    """
    mark = read_head(directory)
    present = segments(directory)
    if mark is None and (not present or _is_unborn(directory, present)):
        os.close(create_segment(directory, 1))
        return ORIGIN
    if not present or present != tuple(range(present[0], present[-1] + 1)):
        raise LogCorruptError(f"segments of the log in {directory} are missing: there are {list(present)}")
    if mark is None:
        # Someone removed it, and only the last segment can be torn.
        mark = Position(present[-1], FIRST_OFFSET)
    end = _sound_end(directory, present, mark)
    _make_durable(directory, mark, end)
    return end


def _is_unborn(directory: Path, present: tuple[int, ...]) -> bool:
    return present == (1,) and segment_path(directory, 1).stat().st_size < FIRST_OFFSET


def _sound_end(directory: Path, present: tuple[int, ...], mark: Position) -> Position:
    with mapped(directory, mark.segment, mark.offset) as data:
        sound = sound_end(data, FIRST_OFFSET, mark.offset)
    if sound != mark.offset:
        raise LogCorruptError(f"the record at {mark.segment}:{sound} is damaged, and the log was durable up to {mark}")
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
