"""Times as logs write them, in microseconds since 1970 UTC."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from whence.openlineage.times import micros

_ZONED = re.compile(r"(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?) ?(?P<zone>[A-Za-z][A-Za-z/_]+)", re.ASCII)
_UTC = ("UTC", "GMT", "Z", "WET")
_ABBREVIATED = (
    "AKST -9 AKDT -8 PST -8 PDT -7 MST -7 MDT -6 CDT -5 EST -5 EDT -4 HST -10 BRT -3 ART -3 WEST 1 BST 1 CET 1 CEST 2 "
    "EET 2 EEST 3 SAST 2 MSK 3 PKT 5 NPT 5.75 WIB 7 HKT 8 SGT 8 AWST 8 JST 9 KST 9 ACST 9.5 ACDT 10.5 AEST 10 AEDT 11 "
    "NZST 12 NZDT 13"
)
_HOURS = {name: float(hours) for name, hours in re.findall(r"(\w+) (\S+)", _ABBREVIATED)}
"""East of UTC: abbreviations that servers write and that mean one zone only (PostgreSQL documentation, appendix B)."""


def moment(said: object) -> int:
    """The time that a text means, or a number of seconds, milli-, micro- or nanoseconds since 1970; 0 if it means none.

    >>> moment("2026-02-01 10:00:00.5 UTC") == moment("2026-02-01T11:00:00.5+01:00") == moment(1_769_940_000_500)
    True
    """
    if isinstance(said, int | float):
        return _counted(said)
    if not isinstance(said, str) or not said:
        return 0
    if said.replace(".", "", 1).isdecimal():
        return _counted(float(said) if "." in said else int(said))
    if zoned := _ZONED.fullmatch(said.strip()):
        return _zoned(zoned["time"], zoned["zone"])
    try:
        return micros(said)[0]
    except ValueError:
        return _in_words(said)


def _counted(since: float) -> int:
    """By its size: what is not too far in the future in one unit is meant in it."""
    if since > 1e17:
        return int(since // 1_000)
    if since > 1e14:
        return int(since)
    return int(since * (1_000 if since > 1e11 else 1_000_000))


def _in_words(said: str) -> int:
    """`Sun, 01 Feb 2026 10:00:00 -0800`, as mail and Snowflake write times (RFC 2822)."""
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, TypeError, OverflowError):
        return 0
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()) * 1_000_000


def _zoned(text: str, zone: str) -> int:
    at, _ = micros(text)
    if zone in _UTC:
        return at
    if zone in _HOURS:
        return at - int(_HOURS[zone] * 3_600_000_000)
    try:
        local = datetime.fromisoformat(text.replace(",", ".")).replace(tzinfo=ZoneInfo(zone))
    except (ValueError, ZoneInfoNotFoundError):
        return at  # an abbreviation that names no zone for certain is read as UTC
    return at - int((local.utcoffset() or local - local).total_seconds()) * 1_000_000
