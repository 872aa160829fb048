"""When data has to be good: open hours by weekday in a time zone, holidays, exceptions and maintenance."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from zoneinfo import ZoneInfo

from whence.errors import WhenceError

DAY_MINUTES = 1_440
MINUTE = 60_000_000
"""Microseconds."""

Hours = tuple[tuple[int, int], ...]
"""Open hours of a day: from a minute (included) to another (excluded), ascending and apart; minutes since midnight."""
WHOLE_DAY: Hours = ((0, DAY_MINUTES),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Open hours. `week`: Monday to Sunday; `exceptions`: other hours of single days, which win over holidays.

    On a holiday of `country` (ISO 3166, such as DE) or its `subdivision` (such as BE) nothing is open.
    """

    name: str = ""
    zone: str = "UTC"
    week: tuple[Hours, ...] = (WHOLE_DAY,) * 7
    country: str = ""
    subdivision: str = ""
    exceptions: tuple[tuple[date, Hours], ...] = ()

    @property
    def weekly(self) -> int:
        """The open time of a week without holidays and exceptions (µs)."""
        return sum(end - start for hours in self.week for start, end in hours) * MINUTE


ALWAYS = Calendar()
"""Open at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """A time (µs) that does not count, with its reason. `dataset`: a node id, or empty for all."""

    start: int
    end: int
    reason: str
    dataset: str = ""


def hours_on(calendar: Calendar, days: Sequence[date]) -> list[Hours]:
    """The open hours on each of some days. Raises WhenceError if the library of holidays is not installed."""
    holidays = holidays_of(calendar.country, calendar.subdivision, tuple(sorted({day.year for day in days})))
    exceptions = dict(calendar.exceptions)
    return [
        exceptions[day] if day in exceptions else () if day in holidays else calendar.week[day.weekday()]
        for day in days
    ]


@lru_cache(maxsize=64)
def holidays_of(country: str, subdivision: str, years: tuple[int, ...]) -> frozenset[date]:
    """The public holidays of some years; none without a country. Raises WhenceError if the library is not installed,
    and ValueError for a country or a subdivision that it does not have.
    """
    if not country:
        return frozenset()
    try:
        import holidays
    except ModuleNotFoundError:
        raise WhenceError("holidays need the package of the server: pip install 'whence-lineage[server]'") from None
    try:
        return frozenset(holidays.country_holidays(country, subdiv=subdivision or None, years=years))
    except NotImplementedError as error:
        raise ValueError(str(error)) from None


def zone_named(name: str) -> ZoneInfo:
    """The time zone of a name, such as Europe/Berlin. Raises ValueError."""
    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"no time zone is named {name!r}; write one such as Europe/Berlin") from None
