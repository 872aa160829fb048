"""Parsing and formatting of times: instants, durations, ISO 8601."""

import re
from datetime import UTC, datetime
from functools import lru_cache

SECOND = 1_000_000
_UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": 86_400 * SECOND, "w": 7 * 86_400 * SECOND}
_UNIT = r"(s|m|h|d|w|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?)"
_AGO = re.compile(rf"-?\s*(\d+(?:\.\d+)?)\s*{_UNIT}(?:\s+ago)?", re.IGNORECASE)
FIRST, LAST = -62_135_596_800 * SECOND, 253_402_300_799 * SECOND
"""The times that ISO 8601 can express with a four-digit year."""
_CYCLE = 146_097 * _UNITS["d"]
"""400 years, after which the calendar repeats."""
LONGEST = 1_000 * 366 * _UNITS["d"]
"""The longest duration: no result lies outside the years that `iso` can write."""
_MICROSECONDS = re.compile(r"\d{15,18}")


def instant(text: str, now: int) -> int:
    """Parse `2026-11-20T06:00`, `2026-11-20`, `2h`, `30 min ago`, `yesterday` or microseconds, as microseconds UTC.

    A time without an offset is UTC. Raises ValueError for any other text, and for years outside 0001 to 9999.
    """
    written = text.strip()
    if _MICROSECONDS.fullmatch(written):
        return _in_range(int(written))
    if written.lower() in ("now", "yesterday"):
        return now - (_UNITS["d"] if written.lower() == "yesterday" else 0)
    if ago := _AGO.fullmatch(written):
        return _in_range(now - float(ago[1]) * _UNITS[ago[2][0].lower()])
    return microseconds(_parse(written))


CLOCK_SKEW = 60 * SECOND
"""How far the clock of a caller may be ahead of this machine's clock."""


def past_instant(text: str, now: int) -> int:
    """Parse an instant in the past. Raises ValueError as `instant` does, and if it is in the future."""
    at = instant(text, now)
    if at > now + CLOCK_SKEW:
        raise ValueError(f"{iso(at)} is in the future; it is {iso(now // SECOND * SECOND)} now")
    return at


def _in_range(time: float) -> int:
    if not FIRST <= time <= LAST:
        raise ValueError("the year must be between 0001 and 9999")
    return round(time)


def duration(text: str) -> int:
    """Microseconds of `90d`, `36 hours`, `2w`. Raises ValueError if it is not a duration, or over 1,000 years."""
    if found := _AGO.fullmatch(text.strip()):
        length = float(found[1]) * _UNITS[found[2][0].lower()]
        if length > LONGEST:
            raise ValueError(f"{text[:50]!r} is too long: write up to 1,000 years")
        return round(length)
    raise ValueError(f"{text!r} is not a duration: write 90d, 36h or 2w")


def microseconds(moment: datetime) -> int:
    """A moment with an offset, as microseconds since 1970 UTC."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


@lru_cache(maxsize=8_192)
def iso(time: int) -> str:
    """Microseconds UTC as ISO 8601, without a fraction if it is zero.

    An offset can lead to days before year 1 or after 9999: those get the years 0000 and +10000.
    """
    cycles = (time < FIRST) - (time > LAST)
    second = (time + cycles * _CYCLE) // SECOND
    moment = datetime.fromtimestamp(second, UTC).replace(microsecond=time % SECOND)
    text = moment.isoformat(timespec="microseconds" if time % SECOND else "seconds").replace("+00:00", "Z")
    year = moment.year - 400 * cycles
    return f"{'+' if year > 9_999 else ''}{year:04}{text[4:]}" if cycles else text


@lru_cache(maxsize=8_192)
def read_iso(text: str) -> int:
    """Parse the output of `iso` to microseconds UTC. Raises ValueError for any other text."""
    cycles = text.startswith("+10000") - text.startswith("0000")
    if cycles:
        year, rest = (10_000, text[6:]) if cycles > 0 else (0, text[4:])
        text = f"{year - 400 * cycles:04}{rest}"
    return microseconds(datetime.fromisoformat(text)) + cycles * _CYCLE


def _parse(written: str) -> datetime:
    try:
        moment = datetime.fromisoformat(written)
    except (ValueError, OverflowError):
        raise ValueError(f"{written!r} is not a time; write 2026-11-20T06:00 (UTC), 2h ago or yesterday") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
