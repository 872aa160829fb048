"""How long data is kept, as a tag says: `retention=30d`, or as an ISO 8601 duration, `P30D`."""

import re
from collections.abc import Iterable

from whence.govern.policies.estate import NO_RETENTION, Retention

TAG = "retention"
_FORM = re.compile(r"P?(\d{1,6})([dwy])", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "y": 365}


def read_retention(values: Iterable[str]) -> Retention:
    """The longest of several retentions: that is how long data stays. One that cannot be read makes all unreadable."""
    found = [_FORM.fullmatch(one.strip()) for one in values]
    if not found:
        return NO_RETENTION
    if any(one is None for one in found):
        return Retention(is_unreadable=True)
    return Retention(days=max(int(one[1]) * _DAYS[one[2].lower()] for one in found if one is not None))
