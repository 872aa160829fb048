"""Timestamps in logs, converted to microseconds since 1970 UTC."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from whence.openlineage.json.times import parse_micros

_ZONED = re.compile(r"(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?) ?(?P<zone>[A-Za-z][A-Za-z/_]+)", re.ASCII)
_UTC = ("UTC", "GMT", "Z", "WET")
_ABBREVIATED = (
    "AKST -9 AKDT -8 PST -8 PDT -7 MST -7 MDT -6 CDT -5 EST -5 EDT -4 HST -10 BRT -3 ART -3 WEST 1 BST 1 CET 1 CEST 2 "
    "EET 2 EEST 3 SAST 2 MSK 3 PKT 5 NPT 5.75 WIB 7 HKT 8 SGT 8 AWST 8 JST 9 KST 9 ACST 9.5 ACDT 10.5 AEST 10 AEDT 11 "
    "NZST 12 NZDT 13"
)
_HOURS = {name: float(hours) for name, hours in re.findall(r"(\w+) (\S+)", _ABBREVIATED)}
"""Hours east of UTC, for abbreviations that servers write and that mean only one zone (PostgreSQL documentation,
appendix B).
"""


def moment(value: object) -> int:
    """Parse a text, or a number of seconds, milli-, micro- or nanoseconds since 1970. Returns 0 for other values.

    >>> moment("2026-02-01 10:00:00.5 UTC") == moment("2026-02-01T11:00:00.5+01:00") == moment(1_769_940_000_500)
    True
    """
    if isinstance(value, int | float):
        return _from_number(value)
    if not isinstance(value, str) or not value:
        return 0
    if value.replace(".", "", 1).isdecimal():
        return _from_number(float(value) if "." in value else int(value))
    if zoned := _ZONED.fullmatch(value.strip()):
        return _parse_zoned(zoned["time"], zoned["zone"])
    try:
        return parse_micros(value)[0]
    except ValueError:
        return _parse_rfc2822(value)


def _from_number(since: float) -> int:
    """Convert a number by its size: the unit is the one that yields a time not far in the future."""
    if since > 1e17:
        return int(since // 1_000)
    if since > 1e14:
        return int(since)
    return int(since * (1_000 if since > 1e11 else 1_000_000))


def _parse_rfc2822(text: str) -> int:
    """Parse `Sun, 01 Feb 2026 10:00:00 -0800`, the format of mail and Snowflake (RFC 2822)."""
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return 0
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()) * 1_000_000


def _parse_zoned(text: str, zone: str) -> int:
    at, _ = parse_micros(text)
    if zone in _UTC:
        return at
    if zone in _HOURS:
        return at - int(_HOURS[zone] * 3_600_000_000)
    try:
        local = datetime.fromisoformat(text.replace(",", ".")).replace(tzinfo=ZoneInfo(zone))
    except (ValueError, ZoneInfoNotFoundError):
        return at  # an ambiguous abbreviation is read as UTC
    return at - int((local.utcoffset() or local - local).total_seconds()) * 1_000_000
