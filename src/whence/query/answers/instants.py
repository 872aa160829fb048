"""Times as people write them."""

import re
from datetime import UTC, datetime
from functools import lru_cache

SECOND = 1_000_000
_UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": 86_400 * SECOND, "w": 7 * 86_400 * SECOND}
_UNIT = r"(s|m|h|d|w|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?)"
_AGO = re.compile(rf"-?\s*(\d+(?:\.\d+)?)\s*{_UNIT}(?:\s+ago)?", re.IGNORECASE)
FIRST, LAST = -62_135_596_800 * SECOND, 253_402_300_799 * SECOND
"""The times that can be written as ISO 8601 with four digits for the year."""
_CYCLE = 146_097 * _UNITS["d"]
"""400 years: then the calendar is the same again."""
LONGEST = 1_000 * 366 * _UNITS["d"]
"""A length of time: with it no year is beyond what dates can be written of."""
_MICROSECONDS = re.compile(r"\d{15,18}")


def instant(text: str, now: int) -> int:
    """Microseconds UTC of `2026-11-20T06:00`, `2026-11-20`, `2h`, `30 min ago`, `yesterday`, or microseconds.

    A time without an offset is UTC. Raises ValueError if it is none of these, or not from 0001 to 9999.
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
"""How far ahead of this machine's clock the clock of who asks may be."""


def past_instant(text: str, now: int) -> int:
    """An instant at which something can have held. Raises ValueError as `instant` does, and if it is in the future."""
    at = instant(text, now)
    if at > now + CLOCK_SKEW:
        raise ValueError(f"{iso(at)} is in the future; it is {iso(now // SECOND * SECOND)} now")
    return at


def _in_range(time: float) -> int:
    if not FIRST <= time <= LAST:
        raise ValueError("years go from 0001 to 9999")
    return round(time)


def duration(text: str) -> int:
    """Microseconds of `90d`, `36 hours`, `2w`. Raises ValueError if it is no length of time, or over 1,000 years."""
    if found := _AGO.fullmatch(text.strip()):
        length = float(found[1]) * _UNITS[found[2][0].lower()]
        if length > LONGEST:
            raise ValueError(f"{text[:50]!r} is too long: write up to 1,000 years")
        return round(length)
    raise ValueError(f"{text!r} is no length of time: write 90d, 36h or 2w")


def microseconds(moment: datetime) -> int:
    """A moment with an offset, as microseconds since 1970 UTC."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


@lru_cache(maxsize=8_192)
def iso(time: int) -> str:
    """Microseconds UTC as ISO 8601, to the second where nothing is lost. Offsets lead to days before the year 1 and
    after 9999: those have the years 0000 and +10000.
    """
    cycles = (time < FIRST) - (time > LAST)
    second = (time + cycles * _CYCLE) // SECOND
    moment = datetime.fromtimestamp(second, UTC).replace(microsecond=time % SECOND)
    text = moment.isoformat(timespec="microseconds" if time % SECOND else "seconds").replace("+00:00", "Z")
    year = moment.year - 400 * cycles
    return f"{'+' if year > 9_999 else ''}{year:04}{text[4:]}" if cycles else text


@lru_cache(maxsize=8_192)
def read_iso(text: str) -> int:
    """Microseconds UTC of what `iso` wrote. Raises ValueError if it is nothing of the kind."""
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
