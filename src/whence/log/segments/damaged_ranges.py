"""Damaged ranges of a log in segments, stored in its file `SEALS`. Readers skip them, and each is accounted for.

The file is part of the log, so that a rebuild reads the same records as a stream.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.port import Seal
from whence.log.segments.files import sync_directory, write_all


def seals_path(directory: Path) -> Path:
    """The path of the file with the seals."""
    return directory / "SEALS"


def read_seals(directory: Path) -> tuple[Seal, ...]:
    """All seals of a log, in log order. Raises LogCorruptError."""
    try:
        state = seals_path(directory).stat()
    except FileNotFoundError:
        return ()
    return _load(seals_path(directory), state.st_mtime_ns, state.st_ino)


def list_gaps(directory: Path, segment: int) -> list[Seal]:
    """The ranges of a segment without readable records, in order. Raises LogCorruptError."""
    return [seal for seal in read_seals(directory) if seal.segment == segment and seal.state != "restored"]


def sound_ranges(directory: Path, segment: int, low: int, high: int) -> Iterator[tuple[int, int]]:
    """The parts of [low, high) of a segment that are not sealed, in order. Raises LogCorruptError."""
    for gap in list_gaps(directory, segment):
        if low < gap.start < high:
            yield low, gap.start
        if gap.start <= low or gap.start < high:
            low = max(low, gap.stop)
    if low < high:
        yield low, high


@contextmanager
def lock_seals(directory: Path) -> Iterator[None]:
    """Prevent other processes from changing the seals and the ranges they cover while the context is open."""
    fd = os.open(directory / "SEALS.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def write_seals(directory: Path, seals: Sequence[Seal]) -> None:
    """Replace all seals durably. Raises OSError."""
    fresh = directory / "SEALS.new"
    ordered = sorted(seals, key=lambda seal: (seal.segment, seal.start, seal.stop))
    content = json.dumps([asdict(seal) for seal in ordered], indent=1).encode() + b"\n"
    fd = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)
    try:
        write_all(fd, content, 0)
        os.fsync(fd)
    finally:
        os.close(fd)
    fresh.replace(seals_path(directory))
    sync_directory(directory)


@lru_cache(maxsize=16)
def _load(path: Path, _written_at: int, _inode: int) -> tuple[Seal, ...]:
    try:
        documents = json.loads(path.read_text("utf-8"))
        return tuple(
            Seal(**{**document, "records": tuple((int(offset), str(key)) for offset, key in document["records"])})
            for document in documents
        )
    except (ValueError, TypeError, KeyError) as error:
        raise LogCorruptError(f"{path} is damaged: restore it, or delete it and run `whence log repair`") from error
