"""What an objective demands of the data that it is about, in the terms of a contract's promises."""

from dataclasses import replace

import numpy as np

from whence.govern.contracts.consumers import Bounds, DailyDelivery, Demand, MaximumAge
from whence.govern.contracts.contract import Rule
from whence.govern.slos.burn_rates import length_text
from whence.govern.slos.calendars import DAY_MINUTES, MINUTE, Calendar
from whence.govern.slos.evaluation.open_time import open_time
from whence.govern.slos.objectives import DAY, Age, Delivery, Freshness, Objective, Quality

_WEEK = 7 * DAY
_START = 1_767_571_200_000_000
"""A Monday, 2026-01-05: the weeks of a calendar are alike but for the changes of the clock."""


def demand_of(one: Objective) -> Demand | None:
    """What an objective demands; None if no contract promises anything of that kind."""
    match one.indicator:
        case Freshness(limit=limit, age=age):
            length = limit if age is Age.WALL else _shortest_wait(one.calendar, limit)
            return MaximumAge(seconds=length / 1_000_000)
        case Delivery(by=by):
            return DailyDelivery(by=by, zone=one.calendar.zone, pause=_shortest_pause(one.calendar) / 1_000_000)
        case Quality(metric=metric, column=column, unit=unit, operators=operators, arguments=arguments):
            rule = Rule(key=one.name, metric=metric, unit=unit, operators=operators, arguments=arguments)
            return Bounds(column=column, rule=rule)
    return None


def demand_text(one: Objective) -> str:
    """What an objective demands, as people read it; empty if no contract promises anything of that kind."""
    match one.indicator:
        case Freshness(limit=limit, age=age):
            return f"at most {length_text(limit)} old{' in open hours' if age is Age.BUSINESS else ''}"
        case Delivery(by=by):
            return f"delivered by {by // 60:02}:{by % 60:02} {one.calendar.zone}"
        case Quality(metric=metric, unit=unit, operators=operators):
            bounds = ", ".join(f"{key} {_number_text(value)}" for key, value in sorted(operators.items()))
            return f"{metric} {bounds} {unit}".strip()
    return ""


def _number_text(value: object) -> str:
    if isinstance(value, list):
        return " and ".join(map(_number_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shortest_wait(calendar: Calendar, limit: int) -> int:
    """The shortest time by the clock (µs) in which so much open time passes: it begins when a day opens."""
    weeks = limit // max(calendar.weekly, 1) + 3
    regular = replace(calendar, country="", subdivision="", exceptions=())
    hours = open_time(regular, (), _START, _START + weeks * _WEEK)
    first = hours.starts[hours.starts < _START + _WEEK]
    if not len(first):
        return limit
    return int(np.min(hours.reached(hours.passed(first) + limit) - first))


def _shortest_pause(calendar: Calendar) -> int:
    """The shortest time between two days with open hours (µs)."""
    days = [day for day, hours in enumerate(calendar.week) if hours]
    gaps = [(after - before) % 7 or 7 for before, after in zip(days, [*days[1:], *days[:1]], strict=True)]
    return min(gaps, default=1) * DAY_MINUTES * MINUTE
