"""The week that a report is about."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from whence.query.answers.instants import FIRST, iso, microseconds

DAY = 86_400_000_000
WEEK = 7 * DAY
_WEEK = re.compile(r"(\d{4})-W(\d{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPeriod:
    """From `since` (µs, included) until `end` (excluded), and what is known of it before `until`. `week`: its name of
    ISO 8601; empty for seven days that are none.
    """

    since: int
    end: int
    until: int
    week: str = ""

    @property
    def at(self) -> int:
        """The last microsecond that counts."""
        return self.until - 1

    @property
    def is_over(self) -> bool:
        """Whether all of it is known."""
        return self.until == self.end

    def has(self, time: int | None) -> bool:
        """Whether something at a time (µs) is in it."""
        return time is not None and self.since <= time < self.until


def read_report_period(week: str, until: int | None, as_of: int | None, now: int) -> ReportPeriod:
    """The period of a week such as `2026-W47`, or of the seven days until a time (µs); of neither, the last week that
    is over. `as_of`: what happened from then on is not known; never later than `now`. Raises ValueError.
    """
    if week and until is not None:
        raise ValueError("write a week or the end of seven days, not both")
    if until is None:
        name = week or _week_of(now - WEEK)
        since, end = _bounds(name)
    else:
        name, since, end = "", until - WEEK, until
    known = min(end, now if as_of is None else min(as_of, now))
    if known <= since or since < FIRST:
        raise ValueError(f"nothing is known of the time from {iso(since)} on as of {iso(known)}")
    return ReportPeriod(since=since, end=end, until=known, week=name)


def _week_of(time: int) -> str:
    day = date(1970, 1, 1) + timedelta(days=time // DAY)
    year, number, _ = day.isocalendar()
    return f"{year:04}-W{number:02}"


def _bounds(week: str) -> tuple[int, int]:
    found = _WEEK.fullmatch(week)
    if not found:
        raise ValueError(f"{week[:50]!r} is not a week: write one such as 2026-W47")
    monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
    since = microseconds(datetime(monday.year, monday.month, monday.day, tzinfo=UTC))
    return since, since + WEEK
