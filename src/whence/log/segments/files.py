"""Files of the log: segments `00000000000000000001.log` …, and `HEAD`, the position up to which they are durable.

`HEAD` has two slots, written in turn, so that a torn write leaves the other one intact. The larger sound slot counts.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from zlib import crc32

from whence.errors import LogBusyError, LogCorruptError
from whence.log.position import Position

MAGIC = b"whence-log 1\n\0\0\0"
"""The first 16 bytes of each segment; records follow."""

FIRST_OFFSET = len(MAGIC)
ORIGIN = Position(1, FIRST_OFFSET)
"""The position where a new log begins."""

_SLOT = Struct("<IQQ")
_SLOT_AT = (0, 4096)
_TORN_READS = 100


def segment_path(directory: Path, segment: int) -> Path:
    """The path of a segment's file."""
    return directory / f"{segment:020d}.log"


def list_segments(directory: Path) -> tuple[int, ...]:
    """The numbers of the existing segments, ascending; none if the directory does not exist."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return ()
    return tuple(
        sorted(int(name[:-4]) for name in names if len(name) == 24 and name.endswith(".log") and name[:-4].isdecimal())
    )


def create_segment(directory: Path, segment: int) -> int:
    """Create a segment durably and return its file descriptor. Raises OSError."""
    fd = os.open(segment_path(directory, segment), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)
    try:
        write_all(fd, MAGIC, 0)
        os.fsync(fd)
        sync_directory(directory)
    except OSError:
        os.close(fd)
        raise
    return fd


def lock_log(directory: Path) -> int:
    """Take the writer's lock, held until the returned file descriptor is closed. Raises LogBusyError."""
    fd = os.open(directory / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise LogBusyError(f"another process writes the event log in {directory}") from None
    return fd


@contextmanager
def hold_log_lock(directory: Path) -> Iterator[None]:
    """Hold the writer's lock while the context is open. Raises LogBusyError."""
    fd = lock_log(directory)
    try:
        yield
    finally:
        os.close(fd)


def make_directory(directory: Path) -> None:
    """Create a directory and its parents durably. Raises OSError."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True, mode=0o750)
    for path in missing:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the directory's entries durable."""
    _sync(directory, os.O_DIRECTORY)


def sync_file(path: Path) -> None:
    """Make everything written to a file durable, also by other processes."""
    _sync(path, 0)


def _sync(path: Path, flags: int) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes | memoryview, offset: int) -> None:
    """Write all of `data` at `offset`, in as many calls as necessary."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(fd, rest, offset)
        rest, offset = rest[written:], offset + written


def head_path(directory: Path) -> Path:
    """The path of the file with the committed end."""
    return directory / "HEAD"


def open_head(directory: Path, end: Position) -> int:
    """Set the committed end durably, and return the file for `write_head`. A crash leaves the old file or the new."""
    fresh = directory / "HEAD.new"
    fd = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)
    try:
        write_head(fd, end, 0)
        os.fsync(fd)
        fresh.replace(head_path(directory))
        sync_directory(directory)
    except OSError:
        os.close(fd)
        raise
    return fd


def write_head(fd: int, end: Position, turn: int) -> None:
    """Publish the committed end; `turn` alternates between the slots."""
    body = _SLOT.pack(0, end.segment, end.offset)[4:]
    write_all(fd, crc32(body).to_bytes(4, "little") + body, _SLOT_AT[turn & 1])


def read_head(directory: Path) -> Position | None:
    """The committed end, or None if the log was never opened. Raises LogCorruptError if no slot is sound."""
    try:
        fd = os.open(head_path(directory), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # A reader sees both slots mid-write only if it is descheduled between its two reads: read again.
        for _ in range(_TORN_READS):
            marks = [mark for at in _SLOT_AT if (mark := _parse_slot(os.pread(fd, _SLOT.size, at)))]
            if marks:
                return max(marks)
    finally:
        os.close(fd)
    raise LogCorruptError(f"{head_path(directory)} is damaged: both of its two marks are corrupt")


def _parse_slot(slot: bytes) -> Position | None:
    if len(slot) < _SLOT.size:
        return None
    crc, segment, offset = _SLOT.unpack(slot)
    return Position(segment, offset) if crc == crc32(slot[4:]) and segment else None
