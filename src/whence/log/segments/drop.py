"""Deleting segments from the log's beginning, while it is written and read."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.errors import LogBusyError
from whence.log.position import Position
from whence.log.segments.counts import amounts
from whence.log.segments.files import FIRST_OFFSET, head_path, segment_path, segments, sync_directory, sync_file
from whence.log.segments.read import committed


@contextmanager
def retaining(directory: Path) -> Iterator[None]:
    """Meanwhile no segment is dropped: for those who read far behind the end. Raises LogBusyError while some are."""
    with _locked(directory, fcntl.LOCK_SH, "segments of the log are being dropped; try again"):
        yield


def drop_segments(directory: Path, before: Position) -> tuple[int, ...]:
    """Delete the segments that end at or before a position, oldest first, and never the last; their numbers.

    A crash leaves a log without some of them. Raises LogBusyError while somebody retains them, LogCorruptError.
    """
    with _locked(directory, fcntl.LOCK_EX, "a rebuild or an archiver reads the log; try again when it has ended"):
        dropped = droppable(directory, before)
        if not dropped:
            return ()
        amounts(directory).before(Position(dropped[-1] + 1, FIRST_OFFSET))  # what they held is known for ever
        # Its writer does not sync it: a power loss must not bring back a mark in a segment that is gone.
        sync_file(head_path(directory))
        for segment in dropped:
            segment_path(directory, segment).unlink()
        sync_directory(directory)
        return dropped


def droppable(directory: Path, before: Position) -> tuple[int, ...]:
    """The segments that end at or before a position and before the last durable record."""
    end = min(before, committed(directory))
    return tuple(segment for segment in segments(directory) if Position(segment + 1, FIRST_OFFSET) <= end)


@contextmanager
def _locked(directory: Path, kind: int, busy: str) -> Iterator[None]:
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
