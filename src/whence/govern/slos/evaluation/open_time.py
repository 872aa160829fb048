"""Open time as a coordinate: the open microseconds before an instant, exactly, through changes of the clock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from whence.govern.slos.calendars import DAY_MINUTES, MINUTE, Calendar, Maintenance, hours_on, zone_named

Times = NDArray[np.int64]
"""Instants or durations (µs)."""

_SECOND = 1_000_000
_DAY = DAY_MINUTES * MINUTE
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class OpenTime:
    """Open intervals [start, end), ascending and apart, with the open time before each (µs)."""

    starts: Times
    ends: Times
    before: Times = field(init=False)

    def __post_init__(self) -> None:
        passed = np.concatenate(([0], np.cumsum(self.ends - self.starts)))
        object.__setattr__(self, "before", passed.astype(np.int64))

    def passed(self, at: Times) -> Times:
        """The open time before instants."""
        index = np.searchsorted(self.starts, at, side="right") - 1
        inside = np.minimum(at, self.ends[index]) - self.starts[index] if len(self.starts) else np.zeros_like(at)
        found: Times = np.where(index < 0, 0, self.before[index] + inside)
        return found

    def passed_at(self, at: int) -> int:
        """The open time before an instant."""
        return int(self.passed(np.array([at], dtype=np.int64))[0])

    def reached(self, passed: Times) -> Times:
        """The first instants at which so much open time has passed; the last end if that is never."""
        index = np.clip(np.searchsorted(self.before, passed, side="left") - 1, 0, None)
        return self._instants(index, passed)

    def resumed(self, passed: Times) -> Times:
        """The first open instants after so much open time: the next opening, if it is closed then. FOREVER if none is
        known.
        """
        index = np.searchsorted(self.before, passed, side="right") - 1
        found = self._instants(index, passed)
        return np.where(index >= len(self.starts), FOREVER, found)

    def _instants(self, index: Times, passed: Times) -> Times:
        if not len(self.starts):
            return np.full_like(passed, FOREVER)
        known = np.minimum(index, len(self.starts) - 1)
        found: Times = np.minimum(self.starts[known] + passed - self.before[known], self.ends[known])
        return found


FOREVER = 2**62
"""No instant that is known."""


def open_time(calendar: Calendar, maintenance: Sequence[Maintenance], since: int, until: int) -> OpenTime:
    """The open time from an instant to another (µs), without maintenance. Raises WhenceError, ValueError."""
    first, last = since // _DAY * _DAY, -(-until // _DAY) * _DAY
    whole = _cut(_open_intervals(calendar, first, last), since, until)
    removed = sorted((one.start, one.end) for one in maintenance if one.end > since and one.start < until)
    kept = _subtract(whole, removed) if removed else whole
    return OpenTime(kept[:, 0], kept[:, 1])


@lru_cache(maxsize=256)
def _open_intervals(calendar: Calendar, since: int, until: int) -> Times:
    """Open intervals, one a row. Between two changes of the clock, local time is UTC and a constant."""
    rows = [row for segment in _segments(zone_named(calendar.zone), since, until) for row in _rows(calendar, *segment)]
    return _joined(np.array(rows, dtype=np.int64).reshape(-1, 2))


def _segments(zone: ZoneInfo, since: int, until: int) -> Iterator[tuple[int, int, int]]:
    """Periods with one offset from UTC: start, end, offset (µs)."""
    start, offset = since, _offset(zone, since)
    for day in range(since, until, _DAY):
        end = min(day + _DAY, until)
        if (next_ := _offset(zone, end)) != offset:
            change = _change(zone, day, end)
            yield start, change, offset
            start, offset = change, next_
    yield start, until, offset


def _change(zone: ZoneInfo, before: int, after: int) -> int:
    """The second at which the offset becomes another one."""
    offset = _offset(zone, before)
    while after - before > _SECOND:
        middle = (before + after) // 2 // _SECOND * _SECOND
        before, after = (middle, after) if _offset(zone, middle) == offset else (before, middle)
    return after


def _offset(zone: ZoneInfo, at: int) -> int:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    offset = moment.astimezone(zone).utcoffset()
    return 0 if offset is None else offset // timedelta(microseconds=1)


def _rows(calendar: Calendar, start: int, end: int, offset: int) -> Iterator[tuple[int, int]]:
    first, last = (start + offset) // _DAY, (end - 1 + offset) // _DAY
    days = [_EPOCH + timedelta(days=number) for number in range(first, last + 1)]
    for number, hours in zip(range(first, last + 1), hours_on(calendar, days), strict=True):
        midnight = number * _DAY - offset
        for opens, closes in hours:
            row = max(start, midnight + opens * MINUTE), min(end, midnight + closes * MINUTE)
            if row[0] < row[1]:
                yield row


def _joined(rows: Times) -> Times:
    """Ascending intervals; those that touch become one."""
    if not len(rows):
        return rows
    is_first = np.concatenate(([True], rows[1:, 0] > rows[:-1, 1]))
    is_last = np.concatenate((is_first[1:], [True]))
    return np.column_stack((rows[is_first, 0], rows[is_last, 1]))


def _cut(rows: Times, since: int, until: int) -> Times:
    cut = np.clip(rows, since, until)
    return cut[cut[:, 0] < cut[:, 1]]


def _subtract(rows: Times, removed: Sequence[tuple[int, int]]) -> Times:
    for start, end in removed:
        left, right = rows.copy(), rows.copy()
        left[:, 1] = np.minimum(left[:, 1], start)
        right[:, 0] = np.maximum(right[:, 0], end)
        both = np.concatenate((left, right))
        both = both[both[:, 0] < both[:, 1]]
        rows = both[np.argsort(both[:, 0], kind="stable")]
    return rows
