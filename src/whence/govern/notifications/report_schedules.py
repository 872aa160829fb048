"""When the weekly report is sent to whom: a time of a weekday in a time zone. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from whence.query.answers.instants import microseconds

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSchedule:
    """The names of receivers that get the weekly report on a weekday (0: Monday) at a minute of its day."""

    receivers: tuple[str, ...]
    weekday: int
    minute: int
    zone: str = "UTC"

    @property
    def text(self) -> str:
        """As people read it: `mon 07:00 Europe/Berlin`."""
        return f"{WEEKDAYS[self.weekday]} {self.minute // 60:02}:{self.minute % 60:02} {self.zone}"

    def last_due(self, now: int) -> int:
        """The last time until `now` at which it was due (µs)."""
        return max(time for time in self._around(now) if time <= now)

    def next_due(self, now: int) -> int:
        """The first time after `now` at which it is due (µs)."""
        return min(time for time in self._around(now) if time > now)

    def _around(self, now: int) -> Iterator[int]:
        """The times at which it is due in the weeks around a time. A time that a change of clocks leaves out is moved
        by as much; of one that is there twice, the first counts.
        """
        today = datetime.fromtimestamp(now // 1_000_000, UTC).date()
        day = today - timedelta(days=(today.weekday() - self.weekday) % 7)
        for step in (-1, 0, 1, 2):
            yield self._time_on(day + step * _WEEK)

    def _time_on(self, day: date) -> int:
        hour, minute = divmod(self.minute, 60)
        return microseconds(datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(self.zone)))
