"""The period of a timeline, and its times as people write them."""

from dataclasses import dataclass

from whence.query.answers.instants import instant, iso, past_instant

DEFAULT = "24h"
"""How far back a timeline goes if nobody says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time in microseconds UTC: after `since`, and not after `until`. `is_now`: until now, so that the graph is the
    current one.
    """

    since: int
    until: int
    is_now: bool = False

    @property
    def ends(self) -> tuple[int, int | None]:
        """The times of the graphs at its begin and its end; None: now."""
        return self.since, None if self.is_now else self.until


def read_period(since: str, until: str | None, as_of: str | None, now: int) -> Period:
    """The period that some texts name: `24h`, `2026-11-20T06:00`. `until`: `as_of` if it is None, and that: now (µs).

    A duration counts back from `as_of`. Raises ValueError for other texts, for the future, and if nothing is between.
    """
    today = now if as_of is None else past_instant(as_of, now)
    end = today if until is None else min(past_instant(until, today), today)
    begin = instant(since, today)
    if begin >= end:
        raise ValueError(f"the period must begin before it ends, at {iso(end)}: write a longer one, such as 24h")
    return Period(since=begin, until=end, is_now=as_of is None and end == now)
