"""How long several things took: count, median and 90th percentile."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Durations (µs). Of none there is no median and no percentile. `unknown`: how many more there are that cannot be
    known.
    """

    values: tuple[int, ...] = ()
    unknown: int = 0

    @property
    def median(self) -> float | None:
        """The middle one, or the mean of the two in the middle."""
        return float(median(self.values)) if self.values else None

    @property
    def p90(self) -> int | None:
        """The least one such that nine of ten are not longer."""
        return sorted(self.values)[ceil(0.9 * len(self.values)) - 1] if self.values else None


def collect_durations(found: Iterable[int | None]) -> Durations:
    """Durations, and how many are not known (None)."""
    several = list(found)
    known = sorted(one for one in several if one is not None)
    return Durations(values=tuple(known), unknown=len(several) - len(known))
