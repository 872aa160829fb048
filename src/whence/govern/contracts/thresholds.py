"""Whether a threshold promises more or less than another: quality rules, ranges of types, service levels."""

import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from whence.govern.contracts.contract import Rule, ServiceLevel

Interval = tuple[float, float, bool, bool]
"""Least and greatest value, and whether each is excluded."""

_UNITS: dict[str, float] = {"s": 1, "sec": 1, "second": 1, "min": 60, "m": 60, "minute": 60, "h": 3_600}
_UNITS |= {"hr": 3_600, "hour": 3_600}
_UNITS |= {"d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800, "mo": 2_629_800, "month": 2_629_800}
_UNITS |= {"y": 31_557_600, "yr": 31_557_600, "year": 31_557_600, "ms": 0.001}
AGES = frozenset(("latency", "freshness", "frequency", "frequencyofupdate"))
"""How old data may be, or how long nothing may be written."""
TIME_OF_DAY = "timeofavailability"
_MORE_IS_WORSE = AGES | {"generalavailability", TIME_OF_DAY, "timetodetect"}
_MORE_IS_WORSE |= frozenset(("timetonotify", "timetorepair", "errorrate"))
_MORE_IS_BETTER = frozenset(("retention", "endofsupport", "endoflife", "availability", "throughput"))
_ENDS = frozenset(("endofsupport", "endoflife"))
"""Without these, a promise has no end."""
_WORDS = re.compile(r"[^a-z]")


class Shift(Enum):
    """How a newer promise compares with an older one."""

    SAME = 0
    TIGHTER = 1
    LOOSER = 2


def compare_rules(old: Rule, new: Rule) -> Shift:
    """Compare the thresholds of a quality rule. What cannot be compared may allow less: it is tighter."""
    if (old.operators, old.unit, old.metric, old.arguments) == (new.operators, new.unit, new.metric, new.arguments):
        return Shift.SAME
    before, after = interval_of(old.operators), interval_of(new.operators)
    if before is None or after is None or (old.unit, old.metric) != (new.unit, new.metric):
        return Shift.TIGHTER
    return Shift.LOOSER if before != after and contains(after, before) else Shift.TIGHTER


def compare_options(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Shift, ...]:
    """Compare the options of a type, each that differs: a limit by its value, anything else as a demand."""
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return tuple(_compare_option(key, old.get(key), new.get(key)) for key in keys)


def compare_levels(old: ServiceLevel | None, new: ServiceLevel | None) -> Shift:
    """Compare two values of a service level; None: it is not promised. What cannot be compared promises less."""
    if old is None or new is None:
        given = new or old
        is_end = given is not None and level_kind(given) in _ENDS
        return Shift.TIGHTER if (new is not None) != is_end else Shift.LOOSER
    if (old.value, old.unit) == (new.value, new.unit):
        return Shift.SAME
    name = level_kind(new)
    before, after = amount_of(old), amount_of(new)
    if before == after:
        return Shift.SAME
    is_more = _is_more(before, after)
    if is_more is None or name not in _MORE_IS_BETTER | _MORE_IS_WORSE:
        return Shift.LOOSER
    return Shift.TIGHTER if is_more == (name in _MORE_IS_BETTER) else Shift.LOOSER


def _is_more(before: float | str | None, after: float | str | None) -> bool | None:
    """Whether an amount is the larger one; None if the two cannot be compared."""
    match before, after:
        case float(), float():
            return after > before
        case str(), str():
            return after > before
    return None


def _compare_option(key: str, before: Any, after: Any) -> Shift:
    is_upper = "max" in key.casefold()
    if before is None:
        return Shift.TIGHTER
    if after is None:
        return Shift.LOOSER
    is_number = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (before, after))
    if not is_upper and "min" not in key.casefold():
        return Shift.LOOSER  # another format or pattern: readers get what they did not get
    if not is_number and not (isinstance(before, str) and isinstance(after, str)):
        return Shift.LOOSER
    return Shift.LOOSER if (after > before) == is_upper else Shift.TIGHTER


def interval_of(operators: Mapping[str, Any]) -> Interval | None:
    """The values that operators allow; None if they are none of an interval."""
    least, greatest, excludes_least, excludes_greatest = -math.inf, math.inf, False, False
    for operator, value in operators.items():
        numbers = value if isinstance(value, list) else [value, value]
        if len(numbers) != 2 or not all(_is_number(one) for one in numbers):
            return None
        match operator:
            case "mustBe" | "mustBeBetween":
                least, greatest = max(least, numbers[0]), min(greatest, numbers[1])
            case "mustBeGreaterThan" | "mustBeGreaterOrEqualTo":
                least, excludes_least = max(least, numbers[0]), operator == "mustBeGreaterThan"
            case "mustBeLessThan" | "mustBeLessOrEqualTo":
                greatest, excludes_greatest = min(greatest, numbers[0]), operator == "mustBeLessThan"
            case _:
                return None
    return least, greatest, excludes_least, excludes_greatest


def contains(outer: Interval, inner: Interval) -> bool:
    """Whether all values of one interval are in another."""
    below = outer[0] < inner[0] or (outer[0] == inner[0] and (not outer[2] or inner[2]))
    above = outer[1] > inner[1] or (outer[1] == inner[1] and (not outer[3] or inner[3]))
    return below and above


def level_kind(level: ServiceLevel) -> str:
    """What a service level promises, in lower case and without separators: `timeofavailability`."""
    return _WORDS.sub("", level.property.casefold())


def seconds_in(unit: str) -> float | None:
    """The seconds in a unit of time, as contracts write it; None if it is none."""
    name = unit.strip().casefold()
    return _UNITS.get(name) or _UNITS.get(name.removesuffix("s"))


def amount_of(level: ServiceLevel) -> float | str | None:
    """A duration in seconds, another number, or a text that orders itself (a date, a time of day)."""
    factor = seconds_in(level.unit) or 1
    if _is_number(level.value):
        return float(level.value) * factor
    try:
        return float(level.value) * factor
    except (TypeError, ValueError):
        return level.value if isinstance(level.value, str) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
