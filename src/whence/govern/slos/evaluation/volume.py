"""Whether runs write as many rows as earlier ones let expect.

The rule `robust` compares logarithms with the median of earlier runs, adjusted by weekday, and measures the distance
in median absolute deviations: neither quiet weekends nor earlier incidents hide a drop. The rule `sigma` is the mean of
the last runs and their standard deviation, as many monitors have it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, stdev

from whence.govern.slos.objectives import DAY, Volume, VolumeRule

_WEEKS = 8
"""How far back weekdays are compared."""
_LEAST_OF_WEEKDAY = 2
_NORMAL = 1.4826
"""The standard deviation of a normal distribution with a median absolute deviation of 1."""
_LEAST_SPREAD = 0.01
"""1 %: without it, a series that never varied would report every other number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volumes:
    """The rows that runs wrote, in the order of their times (µs)."""

    times: tuple[int, ...]
    rows: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeVerdict:
    """Whether a number of rows is between the expected bounds; None: that is not known yet, with the reason."""

    rows: float
    good: bool | None
    least: float | None = None
    most: float | None = None
    reason: str = ""


def judge_volumes(indicator: Volume, series: Volumes) -> list[VolumeVerdict]:
    """Judge each number of rows by the ones before it."""
    judge = _robust if indicator.rule is VolumeRule.ROBUST else _sigma
    return [judge(indicator, series, index) for index in range(len(series.times))]


def _sigma(indicator: Volume, series: Volumes, index: int) -> VolumeVerdict:
    rows, earlier = series.rows[index], series.rows[max(0, index - indicator.history) : index]
    if len(earlier) < indicator.history:
        return _learning(rows, f"{len(earlier)} of {indicator.history} runs")
    middle, spread = fmean(earlier), indicator.tolerance * stdev(earlier)
    return _judged(rows, middle - spread, middle + spread)


def _robust(indicator: Volume, series: Volumes, index: int) -> VolumeVerdict:
    rows, now = series.rows[index], series.times[index]
    first = next((i for i in range(index) if series.times[i] >= now - _WEEKS * 7 * DAY), index)
    if index - first < indicator.history:
        return _learning(rows, f"{index - first} of {indicator.history} runs")
    days = [_weekday(time) for time in series.times[first : index + 1]]
    logs = [math.log1p(max(0.0, one)) for one in series.rows[first:index]]
    same = [log for log, day in zip(logs, days, strict=False) if day == days[-1]]
    if len(same) < _LEAST_OF_WEEKDAY:
        return _learning(rows, f"{len(same)} of {_LEAST_OF_WEEKDAY} earlier runs on this weekday")
    offsets = _weekday_offsets(logs, days)
    adjusted = [log - offsets[day] for log, day in zip(logs, days, strict=False)]
    centre = median(adjusted[-indicator.history :]) + offsets[days[-1]]
    steps = [abs(after - before) for before, after in pairwise(adjusted)]
    spread = indicator.tolerance * max(_LEAST_SPREAD, _NORMAL / math.sqrt(2) * median(steps))
    return _judged(rows, math.expm1(centre - spread), math.expm1(centre + spread))


def _weekday_offsets(logs: Sequence[float], days: Sequence[int]) -> dict[int, float]:
    """How far the median of each weekday is from that of all."""
    whole = median(logs)
    by_day: dict[int, list[float]] = {}
    for log, day in zip(logs, days, strict=False):
        by_day.setdefault(day, []).append(log)
    return {day: median(some) - whole for day, some in by_day.items()}


def _weekday(time: int) -> int:
    return (time // DAY + 3) % 7


def _judged(rows: float, least: float, most: float) -> VolumeVerdict:
    return VolumeVerdict(rows=rows, good=least <= rows <= most, least=max(0.0, least), most=most)


def _learning(rows: float, known: str) -> VolumeVerdict:
    return VolumeVerdict(rows=rows, good=None, reason=f"the history has {known}")
