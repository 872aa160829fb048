"""Deletion of the log's oldest segments, while it is written and read."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.errors import LogBusyError
from whence.log.position import Position
from whence.log.segments.counts import segment_counts
from whence.log.segments.files import FIRST_OFFSET, head_path, list_segments, segment_path, sync_directory, sync_file
from whence.log.segments.read import committed_end


@contextmanager
def prevent_drops(directory: Path) -> Iterator[None]:
    """Prevent the deletion of segments while a reader far behind the end needs them. Raises LogBusyError during one."""
    with _lock_drops(directory, fcntl.LOCK_SH, "segments of the log are being dropped; try again"):
        yield


def drop_segments(directory: Path, before: Position) -> tuple[int, ...]:
    """Delete the segments that end at or before a position, oldest first, never the last one. Returns their numbers.

    After a crash some of them may be deleted. Raises LogBusyError while a reader prevents it, LogCorruptError.
    """
    with _lock_drops(directory, fcntl.LOCK_EX, "a rebuild or an archiver reads the log; try again when it has ended"):
        dropped = list_droppable(directory, before)
        if not dropped:
            return ()
        segment_counts(directory).before(Position(dropped[-1] + 1, FIRST_OFFSET))  # stores their counts permanently
        # The writer does not sync HEAD: after a power loss it must not point into a deleted segment.
        sync_file(head_path(directory))
        for segment in dropped:
            segment_path(directory, segment).unlink()
        sync_directory(directory)
        return dropped


def list_droppable(directory: Path, before: Position) -> tuple[int, ...]:
    """The numbers of the segments that end at or before a position and before the committed end."""
    end = min(before, committed_end(directory))
    return tuple(segment for segment in list_segments(directory) if Position(segment + 1, FIRST_OFFSET) <= end)


@contextmanager
def _lock_drops(directory: Path, kind: int, busy: str) -> Iterator[None]:
    if not directory.is_dir():
        yield  # nothing to lock, nothing to drop
        return
    fd = os.open(directory / "DROP", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise LogBusyError(busy) from None
    finally:
        os.close(fd)
