"""The oracle of objectives: minute by minute, without intervals. Times are whole minutes since 1970, UTC."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from whence.govern.slos.calendars import Calendar, Maintenance

MINUTE = 60_000_000


def is_open(calendar: Calendar, maintenance: Sequence[Maintenance], minute: int) -> bool:
    """Whether a minute is open, by the clock on the wall."""
    if any(one.start <= minute * MINUTE < one.end for one in maintenance):
        return False
    local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)).astimezone(ZoneInfo(calendar.zone))
    hours = dict(calendar.exceptions).get(local.date(), calendar.week[local.weekday()])
    return any(start <= local.hour * 60 + local.minute < end for start, end in hours)


@dataclass(frozen=True, slots=True)
class Stale:
    """The open minutes, and of each whether the data was too old in it."""

    minutes: tuple[int, ...]
    bad: tuple[bool, ...]


def stale_minutes(open_: Sequence[bool], first: int, writes: Container[int], limit: int, *, business: bool) -> Stale:
    """`open_`: whether each minute from `first` on is open; `writes` are minutes; `limit`: minutes."""
    minutes, bad = list[int](), list[bool]()
    age: int | None = None
    for minute, opened in enumerate(open_, first):
        if minute in writes:
            age = 0
        if opened and age is not None:
            minutes.append(minute)
            bad.append(age >= limit)
        if age is not None:
            age += 1 if opened or not business else 0
    return Stale(tuple(minutes), tuple(bad))


def alert_minutes(
    stale: Stale, long: int, short: int, least_long: int, least_short: int
) -> list[tuple[int, int | None]]:
    """When an alert opens, and at which number of open minutes it closes: both as numbers of passed open minutes."""
    found, start = list[tuple[int, int | None]](), None
    for passed in range(len(stale.bad) + 1):
        burnt_long = sum(stale.bad[max(0, passed - long) : passed])
        burnt_short = sum(stale.bad[max(0, passed - short) : passed])
        if start is None and burnt_long >= least_long and burnt_short >= least_short:
            start = passed
        elif start is not None and burnt_long < least_long / 2:
            found.append((start, passed))
            start = None
    return found if start is None else [*found, (start, None)]
