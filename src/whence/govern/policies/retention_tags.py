"""How long data is kept, as tags say."""

from collections.abc import Iterable

from whence.govern.policies.estate import NO_RETENTION, Retention
from whence.query.sensitivity.retention import days_in


def read_retention(values: Iterable[str]) -> Retention:
    """The longest of several retentions: that is how long data stays. One that cannot be read makes all unreadable."""
    found = [days_in(one) for one in values]
    if not found:
        return NO_RETENTION
    known = [days for days in found if days is not None]
    return Retention(days=max(known)) if len(known) == len(found) else Retention(is_unreadable=True)
