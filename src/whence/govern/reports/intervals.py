"""Sets of times as intervals [start, end) in µs, ascending and apart. Pure."""

from collections.abc import Iterable

Intervals = tuple[tuple[int, int], ...]


def unite(several: Iterable[tuple[int, int]]) -> Intervals:
    """All times in one of these intervals, which may overlap."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(several):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def intersect(one: Intervals, other: Intervals) -> Intervals:
    """The times in both."""
    found, left, right = [], 0, 0
    while left < len(one) and right < len(other):
        start, end = max(one[left][0], other[right][0]), min(one[left][1], other[right][1])
        if start < end:
            found.append((start, end))
        if one[left][1] < other[right][1]:
            left += 1
        else:
            right += 1
    return tuple(found)


def length(several: Intervals) -> int:
    """How long they are together (µs)."""
    return sum(end - start for start, end in several)
