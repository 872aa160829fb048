"""Detection of damage in a segment: ranges without sound records, and the records known to have been there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whence.log.record import Kind
from whence.log.segments.codec import Bytes, is_sound, read_header, record_length, sound_end

_KIND_AT = 8
_KIND = re.compile(rb"(?=[\x01-\x03]\x00\x00\x00)")
"""The kind of a record and the zeros after it: a record may begin 8 bytes earlier."""


@dataclass(frozen=True, slots=True)
class DamagedRange:
    """Bytes [start, stop) of a segment. `records` are the offset and key of each record known to have been there, at
    least one; the key is empty if it is unknown.
    """

    start: int
    stop: int
    records: tuple[tuple[int, str], ...]


def find_damaged_ranges(data: Bytes, low: int, high: int) -> Iterator[DamagedRange]:
    """The damaged ranges of data[low:high], which must begin with a record. All sound records are outside of them."""
    while (start := sound_end(data, low, high)) < high:
        low = _find_next_sound(data, start + 1, high)
        yield DamagedRange(start, low, _known_records(data, start, low))


def _find_next_sound(data: Bytes, offset: int, high: int) -> int:
    for found in _KIND.finditer(data, offset + _KIND_AT, high):
        at = found.start() - _KIND_AT
        if (stop := record_length(data, at, high)) > 0 and is_sound(data, at, stop):
            return at
    return high


def _known_records(data: Bytes, start: int, stop: int) -> tuple[tuple[int, str], ...]:
    """All records, if their headers form a chain from start to stop; otherwise only the start of the first one."""
    found: list[tuple[int, str]] = []
    offset = start
    while offset < stop and (end := record_length(data, offset, stop)) > 0:
        kind, key = read_header(data, offset)
        if kind not in tuple(Kind):
            break
        found.append((offset, key.hex()))
        offset = end
    return tuple(found) if offset == stop else ((start, ""),)
