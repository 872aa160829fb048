"""Alerts with hysteresis: when burn rates of a time budget, or misses, open one, and when it closes. Exact."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from whence.govern.slos.burn_rates import factor_of, length_text, threshold
from whence.govern.slos.evaluation.open_time import OpenTime, Times
from whence.govern.slos.objectives import BurnRate, Misses, Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert from an instant to another (µs); `end` is None while it is open. `rule`: as people read it."""

    start: int
    end: int | None
    notify: Notify
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Burn:
    """How fast a budget burns, in even rates: in the long and the short window of an alert that opens at `factor`."""

    rate: BurnRate
    factor: float
    long: float
    short: float

    @property
    def windows(self) -> tuple[tuple[int, float], tuple[int, float]]:
        """Each window (µs of open time), and how fast the budget burns in it."""
        return (self.rate.long, self.long), (self.rate.short, self.short)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """How many of the last `rule.of` occurrences were bad."""

    rule: Misses
    bad: int


RELEASE = Fraction(1, 2)
"""An alert closes when the long window burns less than this share of its factor. Writes that are a little late all the
time would open and close it without end.
"""

Span = tuple[int, int]
"""[start, end) in open time (µs)."""
Intervals = tuple[Times, Times]
"""Starts and ends in open time, ascending and apart."""


def burn_alerts(
    rate: BurnRate, target: Fraction, open_time: Fraction, bad: Intervals, hours: OpenTime, now: int
) -> Iterator[Alert]:
    """The alerts of a burn rate until a time: `bad` intervals of open time, `now` in open time (`OpenTime.passed`)."""
    factor = factor_of(rate, open_time)
    long = _burning(bad, rate.long, threshold(factor, rate.long, target), now)
    short = _burning(bad, rate.short, threshold(factor, rate.short, target), now)
    held = _burning(bad, rate.long, threshold(factor * RELEASE, rate.long, target), now)
    rule = f"{float(factor):.4g} times the even burn rate for {length_text(rate.long)} and {length_text(rate.short)}"
    for start, end in _open_while(_both(long, short), held):
        first, last = hours.reached(np.array([start, end], dtype=np.int64)).tolist()
        yield Alert(start=first, end=last if end <= now else None, notify=rate.notify, rule=rule)


def burn_at(rate: BurnRate, target: Fraction, open_time: Fraction, bad: Intervals, now: int) -> Burn:
    """How fast the budget burns at a time (`now` in open time)."""
    long, short = (
        bad_between(bad, now - length, now) / float(length * (1 - target)) for length in (rate.long, rate.short)
    )
    return Burn(rate=rate, factor=float(factor_of(rate, open_time)), long=long, short=short)


def _both(some: Sequence[Span], others: Sequence[Span]) -> Iterator[Span]:
    """What is in both of two lists of intervals."""
    index = 0
    for start, end in some:
        while index < len(others) and others[index][1] <= start:
            index += 1
        while index < len(others) and others[index][0] < end:
            yield max(start, others[index][0]), min(end, others[index][1])
            if others[index][1] >= end:
                break
            index += 1


def _open_while(opening: Iterator[Span], held: Sequence[Span]) -> Iterator[Span]:
    """From the first opening moment in each interval of `held` to its end."""
    starts = [start for start, _ in opening]
    for start, end in held:
        index = bisect_left(starts, start)
        if index < len(starts) and starts[index] < end:
            yield starts[index], end


def _burning(bad: Intervals, window: int, least: int, now: int) -> list[Span]:
    """When at least so much of a window (µs of open time) was bad: [start, end) in open time, until just after `now`.

    The bad time of a window is a piecewise linear function with slopes -1, 0 and 1, so that it crosses at whole µs.
    """
    starts, ends = bad
    if not len(starts) or least <= 0:
        return []
    points = np.unique(np.concatenate((starts, ends, starts + window, ends + window)))
    points = np.concatenate((points[points < now], [now]))
    values = _bad_before(bad, points) - _bad_before(bad, points - window)
    enough = values >= least
    changes = np.flatnonzero(enough[1:] != enough[:-1])
    crossings = [(int(points[i]), int(values[i]), bool(enough[i + 1])) for i in changes]
    found, start = list[Span](), int(points[0]) if enough[0] else None
    for point, value, rises in crossings:
        if rises:
            start = point + least - value
        elif start is not None:
            found.append((start, point + value - least + 1))
            start = None
    return found if start is None else [*found, (start, now + 1)]


def _bad_before(bad: Intervals, at: Times) -> Times:
    starts, ends = bad
    total = np.concatenate(([0], np.cumsum(ends - starts)))
    index = np.searchsorted(starts, at, side="right") - 1
    inside = np.minimum(at, ends[index]) - starts[index]
    return np.where(index < 0, 0, total[index] + inside)


def bad_between(bad: Intervals, since: int, until: int) -> int:
    """The bad time between two moments of open time (µs)."""
    if not len(bad[0]):
        return 0
    before, after = _bad_before(bad, np.array([since, until], dtype=np.int64)).tolist()
    return int(after - before)


def missed_of(rule: Misses, occurrences: Sequence[tuple[int, bool]]) -> Missed:
    """The bad ones of the last occurrences: (time, whether it was good), in order."""
    return Missed(rule=rule, bad=sum(not good for _, good in occurrences[-rule.of :]))


def miss_alerts(rule: Misses, occurrences: Sequence[tuple[int, bool]]) -> Iterator[Alert]:
    """The alerts on occurrences: (time, whether it was good), in order."""
    text = f"{rule.bad} of {rule.of} bad"
    start: int | None = None
    for index, (time, _) in enumerate(occurrences):
        bad = sum(not good for _, good in occurrences[max(0, index - rule.of + 1) : index + 1])
        if start is None and bad >= rule.bad:
            start = time
        elif start is not None and not bad:
            yield Alert(start=start, end=time, notify=rule.notify, rule=text)
            start = None
    if start is not None:
        yield Alert(start=start, end=None, notify=rule.notify, rule=text)
