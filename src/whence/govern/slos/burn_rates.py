"""Burn rates of time budgets: alerts by the share of the budget that they use, with factors of the open hours.

Google's SRE workbook has the factors 14.4, 6 and 1 of a month of 720 hours; another number of open hours gives others.
"""

from collections.abc import Iterable
from fractions import Fraction

from whence.govern.slos.calendars import Calendar
from whence.govern.slos.objectives import BurnRate, Notify

_HOUR = 3_600_000_000
_WEEK = 168 * _HOUR

DEFAULT_BURN_RATES = (
    BurnRate(budget=Fraction(2, 100), long=_HOUR, short=_HOUR // 12, notify=Notify.PAGE),
    BurnRate(budget=Fraction(5, 100), long=6 * _HOUR, short=_HOUR // 2, notify=Notify.PAGE),
    BurnRate(budget=Fraction(10, 100), long=72 * _HOUR, short=6 * _HOUR, notify=Notify.TICKET),
)


def open_time_of(calendar: Calendar, window: int) -> Fraction:
    """The open time of a window (µs), without holidays and exceptions: a factor is not another one at Christmas."""
    return Fraction(calendar.weekly * window, _WEEK)


def factor_of(rate: BurnRate, open_time: Fraction) -> Fraction:
    """How many times faster than evenly the budget burns when the long window uses this alert's share of it."""
    return rate.budget * open_time / rate.long


def greatest_factor(target: Fraction) -> Fraction:
    """The burn rate while everything is bad. No alert above it can open."""
    return 1 / (1 - target)


def threshold(factor: Fraction, window: int, target: Fraction) -> int:
    """The bad time (µs, rounded up) of a window that burns the budget at a factor."""
    return -((-factor * window * (1 - target)).__floor__())


def alerts_that_can_open(target: Fraction, open_time: Fraction) -> Iterable[BurnRate]:
    """The default alerts that can open with a target."""
    return (one for one in DEFAULT_BURN_RATES if can_open(one, target, open_time))


def can_open(rate: BurnRate, target: Fraction, open_time: Fraction) -> bool:
    """Whether an alert opens at least when everything is bad."""
    return factor_of(rate, open_time) <= greatest_factor(target) and rate.long <= open_time


def length_text(length: int) -> str:
    """A duration (µs) in hours, or in minutes."""
    return f"{length / _HOUR:g} h" if length >= _HOUR else f"{length * 60 / _HOUR:g} min"
