"""Times as people write them."""

import re
from datetime import UTC, datetime

SECOND = 1_000_000
_UNITS = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": 86_400 * SECOND, "w": 7 * 86_400 * SECOND}
_UNIT = r"(s|m|h|d|w|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?)"
_AGO = re.compile(rf"-?\s*(\d+(?:\.\d+)?)\s*{_UNIT}(?:\s+ago)?", re.IGNORECASE)
_MICROSECONDS = re.compile(r"\d{15,18}")


def instant(text: str, now: int) -> int:
    """Microseconds UTC of `2026-11-20T06:00`, `2026-11-20`, `2h`, `30 min ago`, `yesterday`, or microseconds.

    A time without an offset is UTC. Raises ValueError if it is none of these.
    """
    written = text.strip()
    if _MICROSECONDS.fullmatch(written):
        return int(written)
    if written.lower() in ("now", "yesterday"):
        return now - (_UNITS["d"] if written.lower() == "yesterday" else 0)
    if ago := _AGO.fullmatch(written):
        return now - round(float(ago[1]) * _UNITS[ago[2][0].lower()])
    return microseconds(_parse(written))


def duration(text: str) -> int:
    """Microseconds of `90d`, `36 hours`, `2w`. Raises ValueError if it is no length of time."""
    if found := _AGO.fullmatch(text.strip()):
        return round(float(found[1]) * _UNITS[found[2][0].lower()])
    raise ValueError(f"{text!r} is no length of time: write 90d, 36h or 2w")


def microseconds(moment: datetime) -> int:
    """A moment with an offset, as microseconds since 1970 UTC."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def iso(time: int) -> str:
    """Microseconds UTC as ISO 8601, to the second where nothing is lost."""
    moment = datetime.fromtimestamp(time // SECOND, UTC).replace(microsecond=time % SECOND)
    return moment.isoformat(timespec="microseconds" if time % SECOND else "seconds").replace("+00:00", "Z")


def _parse(written: str) -> datetime:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(f"{written!r} is no time: write 2026-11-20T06:00, or 2h ago") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
