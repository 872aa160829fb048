"""A copy of a log as far as it is durable, made while it is written."""

import os
import shutil
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.segments.counts import counts_path
from whence.log.segments.files import open_head, segment_path, segments
from whence.log.segments.read import committed
from whence.log.segments.seals import read_seals, write_seals


def copy_segments(source: Path, target: Path) -> Position:
    """Copy a log's segments up to its committed mark into an empty directory, durably; where the copy ends.

    Raises LogCorruptError if a segment is missing, OSError.
    """
    target.mkdir(parents=True, exist_ok=True)
    if counts_path(source).exists():  # of segments that are gone, it alone knows what they had
        _copy(counts_path(source), counts_path(target), counts_path(source).stat().st_size)
    if read_seals(source):
        write_seals(target, read_seals(source))
    end = committed(source)
    for segment in segments(source):
        if segment <= end.segment:
            path = segment_path(source, segment)
            _copy(path, segment_path(target, segment), end.offset if segment == end.segment else path.stat().st_size)
    os.close(open_head(target, end))
    return end


def _copy(source: Path, target: Path, size: int) -> None:
    with source.open("rb") as reading, target.open("xb") as writing:
        left = size
        while left and (some := reading.read(min(left, 1 << 20))):
            writing.write(some)
            left -= len(some)
        if left:
            raise LogCorruptError(f"{source} ends {left} bytes before it should")
        writing.flush()
        os.fsync(writing.fileno())
    shutil.copymode(source, target)
