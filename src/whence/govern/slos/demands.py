"""What an objective demands of the data that it is about, in the terms of a contract's promises."""

from whence.govern.contracts.consumers import Bounds, DailyDelivery, Demand, MaximumAge
from whence.govern.contracts.contract import Rule
from whence.govern.slos.burn_rates import length_text
from whence.govern.slos.calendars import DAY_MINUTES, MINUTE, Calendar
from whence.govern.slos.objectives import Age, Delivery, Freshness, Objective, Quality

_WEEK_MINUTES = 7 * DAY_MINUTES


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
    """The shortest time by the clock (µs) in which so much open time passes, holidays and changes of the clock aside.
    It begins when a day opens.
    """
    week = [
        (day * DAY_MINUTES + start, day * DAY_MINUTES + end)
        for day, hours in enumerate(calendar.week)
        for start, end in hours
    ]
    weeks, rest = divmod(limit, calendar.weekly) if week else (0, limit)
    waits = (_wait_from(start, week, rest) for start, _ in week)
    return weeks * _WEEK_MINUTES * MINUTE + min(waits, default=rest)


def _wait_from(opening: int, week: list[tuple[int, int]], rest: int) -> int:
    """The time by the clock (µs) from an opening until so much open time, less than a week's, has passed."""
    later = [(start + shift, end + shift) for shift in (0, _WEEK_MINUTES) for start, end in week]
    for start, end in (one for one in later if one[0] >= opening):
        length = (end - start) * MINUTE
        if rest <= length:
            return (start - opening) * MINUTE + rest
        rest -= length
    return _WEEK_MINUTES * MINUTE


def _shortest_pause(calendar: Calendar) -> int:
    """The shortest time between two days with open hours (µs)."""
    days = [day for day, hours in enumerate(calendar.week) if hours]
    gaps = [(after - before) % 7 or 7 for before, after in zip(days, [*days[1:], *days[:1]], strict=True)]
    return min(gaps, default=1) * DAY_MINUTES * MINUTE
