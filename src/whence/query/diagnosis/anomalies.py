"""How far the newest values of a series are from its own history: median and MAD, by weekday where that helps.

Counts and times are compared on logs, shares by the arcsine of their root, which makes their spread independent of
their size. Numbers of any sign are compared as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whence.query.diagnosis.case import Aspect, Series

Floats = NDArray[np.float64]

DAY: Final = 86_400_000_000
HISTORY: Final = 60
"""The newest points before the case that are its history."""
LEAST: Final = 5
"""With fewer points of history nothing is said."""
TO_SIGMA: Final = 1.4826
"""MAD of a normal distribution × this = its standard deviation."""
WEEKDAYS_HELP: Final = 0.7
"""Weekdays are told apart if that makes the spread this much smaller."""

_FLOORS: Final = {Aspect.ROWS: 0.02, Aspect.DELAY: 0.02, Aspect.NULLS: 0.01, Aspect.DISTINCT: 0.01}
_VALUES_FLOOR: Final = 0.01
"""Of the median: the smallest spread of values that is believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """The most unusual value of a series in the time of a case. `score`: in robust standard deviations, with its sign.

    `expected` is the median of its history, of the same weekday if weekdays differ; `history` counts its points.
    `last` is the score of the newest value.
    """

    series: Series
    time: int
    value: float
    expected: float
    score: float
    history: int
    last: float


def find_anomaly(series: Series, since: int, until: int) -> Anomaly | None:
    """The most unusual value from `since` to `until`; None if there is none, or too little history to compare."""
    before = [point for point in series.points if point[0] < since][-HISTORY:]
    during = [point for point in series.points if since <= point[0] <= until]
    if len(before) < LEAST or not during:
        return None
    history = _scaled(series.aspect, np.array([value for _, value in before], np.float64))
    values = _scaled(series.aspect, np.array([value for _, value in during], np.float64))
    middles, spread = _expectation([time for time, _ in before], history, [time for time, _ in during])
    floor = _FLOORS.get(series.aspect) or max(_VALUES_FLOOR * float(np.median(np.abs(history))), 1e-9)
    scores = (values - middles) / (max(spread, floor) * (1 + 3 / len(before)))
    last = float(scores[-1])
    # The most extreme of many values is extreme by chance.
    scores = np.sign(scores) * np.maximum(np.abs(scores) - np.sqrt(2 * np.log(len(scores))), 0)
    at = int(np.argmax(scores if series.aspect is Aspect.DELAY else np.abs(scores)))
    return Anomaly(
        series=series,
        time=during[at][0],
        value=during[at][1],
        expected=float(_unscaled(series.aspect, float(middles[at]))),
        score=float(scores[at]),
        history=len(before),
        last=last,
    )


def delays(writes: Sequence[int], until: int) -> Series:
    """The seconds between writes, each at the time of its end; the last one, to `until`, has not ended yet.

    It is left out unless it is longer than all others: a gap that goes on is not short.
    """
    times = sorted({time for time in writes if time <= until})
    points = [(end, (end - start) / 1e6) for start, end in pairwise(times)]
    if points and (until - times[-1]) / 1e6 > max(seconds for _, seconds in points):
        points.append((until, (until - times[-1]) / 1e6))
    return Series(aspect=Aspect.DELAY, metric="time between writes", points=tuple(points))


def _expectation(times: Sequence[int], history: Floats, requested: Sequence[int]) -> tuple[Floats, float]:
    """The expected value at each requested time, and the spread around it."""
    middle = float(np.median(history))
    spread = _spread(history - middle)
    weekdays, requested_days = _weekdays(times), _weekdays(requested)
    counts = {day: int(np.sum(weekdays == day)) for day in set(requested_days.tolist())}
    if len(history) < 14 or min(counts.values()) < 2:
        return np.full(len(requested), middle), spread
    medians = {day: float(np.median(history[weekdays == day])) for day in range(7) if np.any(weekdays == day)}
    residuals = history - np.array([medians[day] for day in weekdays.tolist()])
    # A median of few points is near them by construction: their spread around it is too small.
    each = len(history) / len(medians)
    by_day = _spread(residuals) * np.sqrt((1 + 1.57 / each) / max(1 - 1 / each, 0.25))
    if by_day > WEEKDAYS_HELP * spread:
        return np.full(len(requested), middle), spread
    return np.array([medians[day] for day in requested_days.tolist()]), float(by_day)


def _spread(residuals: Floats) -> float:
    return float(TO_SIGMA * np.median(np.abs(residuals)))


def _weekdays(times: Sequence[int]) -> NDArray[np.int64]:
    return (np.array(times, np.int64) // DAY) % 7


def _scaled(aspect: Aspect, values: Floats) -> Floats:
    match aspect:
        case Aspect.ROWS | Aspect.DELAY:
            return np.log1p(np.maximum(values, 0))
        case Aspect.NULLS | Aspect.DISTINCT:
            return np.arcsin(np.sqrt(np.clip(values, 0, 1)))
    return values


def _unscaled(aspect: Aspect, value: float) -> float:
    match aspect:
        case Aspect.ROWS | Aspect.DELAY:
            return float(np.expm1(value))
        case Aspect.NULLS | Aspect.DISTINCT:
            return float(np.sin(value) ** 2)
    return value
