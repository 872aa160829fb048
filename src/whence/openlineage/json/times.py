"""Event times: ISO 8601 texts to microseconds since 1970 UTC."""

import re
from datetime import datetime, timedelta

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s*(?:([Zz])|([+-])(\d\d):?(\d\d)?)?)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1)
FIRST, LAST = [(one - _EPOCH) // timedelta(microseconds=1) for one in (datetime.min, datetime.max)]
"""The range of `iso`: the years 1 to 9999 in UTC."""


def parse_micros(text: str) -> tuple[int, bool]:
    """Parse a time as microseconds since 1970 UTC, and whether the text has an offset (without one it is UTC). Digits
    after the sixth are cut.

    Raises ValueError, also for a time that its offset moves out of the years 1 to 9999: RFC 3339 cannot express it.
    """
    if not (match := _MOMENT.fullmatch(text.strip())):
        raise ValueError("not an ISO 8601 time")
    day, minute, second, fraction, zulu, sign, hours, minutes = match.groups()
    elapsed = datetime.fromisoformat(f"{day}T{minute or '00:00'}{second or ':00'}") - _EPOCH
    seconds_part = (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000
    fraction_part = int(fraction[:6].ljust(6, "0")) if fraction else 0
    time = seconds_part + fraction_part - _parse_offset(sign, hours, minutes)
    if not FIRST <= time <= LAST:
        raise ValueError("in UTC it is not in the years 1 to 9999")
    return time, bool(zulu or sign)


def _parse_offset(sign: str | None, hours: str | None, minutes: str | None) -> int:
    if not sign:
        return 0
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * 60_000_000
    return -offset if sign == "-" else offset


def iso(time: int) -> str:
    """Format microseconds since 1970 UTC as ISO 8601. Raises OverflowError beyond the years 1 to 9999."""
    return f"{(_EPOCH + timedelta(microseconds=time)).isoformat(timespec='microseconds')}Z"
