"""How long the data of a dataset is kept: as a tag of it says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.model.traits import Traits

KEY = "retention"
"""The key of the tag: `retention=90d`, `retention=18 months`, `retention=P7Y`."""

_DAYS: Mapping[str, int] = {"d": 1, "day": 1, "w": 7, "week": 7, "m": 30, "month": 30, "y": 365, "year": 365}
_PERIOD = re.compile(r"p?\s*(\d{1,6})\s*(d|w|m|y|days?|weeks?|months?|years?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long data is kept. `text`: as the tag says it; `days`: None if that is no number of days, weeks, months (of
    30 days) or years (of 365).
    """

    text: str
    days: int | None


def retention_of(traits: Traits) -> Retention | None:
    """The retention of a dataset; of several the longest, since so long the data stays, and one that cannot be read may
    be longer still. None: no tag says it.
    """
    texts = sorted(value for key, value, on in traits.tags if key.casefold() == KEY and value and not on)
    several = [Retention(text, days_in(text)) for text in texts]
    return max(several, key=lambda one: (one.days is None, one.days or 0), default=None)


def days_in(text: str) -> int | None:
    """The days of a period: `90d`, `6w`, `18 months`, `P7Y`. None if it is none."""
    found = _PERIOD.fullmatch(text.strip())
    if found is None:
        return None
    unit = found[2].casefold()
    return int(found[1]) * _DAYS[unit if len(unit) == 1 else unit.removesuffix("s")]
