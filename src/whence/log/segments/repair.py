"""Repair of sealed ranges: their records are written back from a copy, or accounted for as lost."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from whence.log.port import Seal
from whence.log.position import Position
from whence.log.record import Record
from whence.log.segments.codec import encode_record
from whence.log.segments.damaged_ranges import lock_seals, read_seals, write_seals
from whence.log.segments.files import FIRST_OFFSET, segment_path, write_all


def restore_range(directory: Path, seal: Seal, records: Iterable[Record], known_until: Position) -> tuple[Seal, ...]:
    """Write records back into a sealed range, from its beginning up to the first gap.

    `records` are all records of the range that another copy of the log has, in order; that copy ends at `known_until`.
    Returns the seals that replace it. Raises OSError.
    """
    blocks: list[bytes] = []
    stop = seal.start
    for record in records:
        if record.position != Position(seal.segment, stop):
            break
        blocks.append(encode_record(record))
        stop += len(blocks[-1])
    # A missing segment has no known end: the range is complete if the copy continues after the segment.
    is_whole = stop == seal.stop if seal.start < seal.stop else known_until.segment > seal.segment
    if not blocks or (seal.start < seal.stop < stop):
        return (seal,)
    after = [replace(seal, stop=stop, state="restored", records=(), count=len(blocks))]
    if not is_whole:
        after.append(_remaining_seal(seal, stop))
    with lock_seals(directory):
        _write_back(directory, seal, b"".join(blocks))
        write_seals(directory, [*(one for one in read_seals(directory) if one != seal), *after])
    return tuple(after)


def accept_loss(directory: Path, seal: Seal, derived: int) -> Seal:
    """Account for the records of a sealed range as lost; `derived` of them are in the store. Raises OSError."""
    lost = replace(seal, state="lost", count=max(seal.count, derived), lost=0 if derived else seal.count)
    with lock_seals(directory):
        write_seals(directory, [*(one for one in read_seals(directory) if one != seal), lost])
    return lost


def _remaining_seal(seal: Seal, start: int) -> Seal:
    left = tuple(one for one in seal.records if one[0] >= start) or ((start, ""),)
    return replace(seal, start=start, stop=max(seal.stop, start), records=left, count=len(left))


def _write_back(directory: Path, seal: Seal, block: bytes) -> None:
    assert seal.start >= FIRST_OFFSET
    fd = os.open(segment_path(directory, seal.segment), os.O_RDWR | os.O_CLOEXEC)
    try:
        write_all(fd, block, seal.start)
        os.fsync(fd)
    finally:
        os.close(fd)
