"""Finding damage in a segment: the ranges without sound records, and what is known of the records that were there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whence.log.record import Kind
from whence.log.segments.codec import Bytes, extent, header_at, is_sound, sound_end

_KIND_AT = 8
_KIND = re.compile(rb"(?=[\x01-\x03]\x00\x00\x00)")
"""The kind of a record and the zeros behind it: where a record may begin 8 bytes earlier."""


@dataclass(frozen=True, slots=True)
class DamagedRange:
    """Bytes [start, stop) of a segment. `records`: offset and key of the records known to have been there; the key is
    empty where it is not known. There is at least one.
    """

    start: int
    stop: int
    records: tuple[tuple[int, str], ...]


def find_damage(data: Bytes, low: int, high: int) -> Iterator[DamagedRange]:
    """The damaged ranges of data[low:high], which begins with a record; every sound record is outside of them."""
    while (start := sound_end(data, low, high)) < high:
        low = _next_sound(data, start + 1, high)
        yield DamagedRange(start, low, _known_records(data, start, low))


def _next_sound(data: Bytes, offset: int, high: int) -> int:
    for found in _KIND.finditer(data, offset + _KIND_AT, high):
        at = found.start() - _KIND_AT
        if (stop := extent(data, at, high)) > 0 and is_sound(data, at, stop):
            return at
    return high


def _known_records(data: Bytes, start: int, stop: int) -> tuple[tuple[int, str], ...]:
    """All records, if their headers lead from the start to the stop; else only where the first one began."""
    found: list[tuple[int, str]] = []
    offset = start
    while offset < stop and (end := extent(data, offset, stop)) > 0:
        kind, key = header_at(data, offset)
        if kind not in tuple(Kind):
            break
        found.append((offset, key.hex()))
        offset = end
    return tuple(found) if offset == stop else ((start, ""),)
