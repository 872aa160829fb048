"""Copies of a log up to its committed end, made while it is written."""

import os
import shutil
from pathlib import Path

from whence.errors import LogCorruptError
from whence.log.position import Position
from whence.log.segments.counts import counts_path
from whence.log.segments.damaged_ranges import read_seals, write_seals
from whence.log.segments.files import list_segments, open_head, segment_path
from whence.log.segments.read import committed_end


def copy_segments(source: Path, target: Path) -> Position:
    """Copy a log's segments up to its committed end into an empty directory, durably. Returns the end of the copy.

    Raises LogCorruptError if a segment is missing, OSError.
    """
    target.mkdir(parents=True, exist_ok=True)
    if counts_path(source).exists():  # the only source for the counts of deleted segments
        _copy(counts_path(source), counts_path(target), counts_path(source).stat().st_size)
    if read_seals(source):
        write_seals(target, read_seals(source))
    end = committed_end(source)
    for segment in list_segments(source):
        if segment <= end.segment:
            path = segment_path(source, segment)
            _copy(path, segment_path(target, segment), end.offset if segment == end.segment else path.stat().st_size)
    os.close(open_head(target, end))
    return end


def _copy(source: Path, target: Path, size: int) -> None:
    with source.open("rb") as reading, target.open("xb") as writing:
        remaining = size
        while remaining and (block := reading.read(min(remaining, 1 << 20))):
            writing.write(block)
            remaining -= len(block)
        if remaining:
            raise LogCorruptError(f"{source} ends {remaining} bytes before it should")
        writing.flush()
        os.fsync(writing.fileno())
    shutil.copymode(source, target)
