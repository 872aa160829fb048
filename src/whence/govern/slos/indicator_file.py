"""The indicator of an objective in `slos.yaml`: what is good, and what is bad."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from whence.govern.slos.calendar_file import parse_time
from whence.govern.slos.calendars import DAY_MINUTES
from whence.govern.slos.objectives import (
    Age,
    Check,
    Delivery,
    Freshness,
    Indicator,
    Lineage,
    LineageMetric,
    Measured,
    Quality,
    SchemaStability,
    Volume,
    VolumeRule,
)
from whence.govern.yaml_nodes import Node, Reader, read_members
from whence.query.answers.instants import duration

_BOUNDS = ("mustBeBetween", "mustNotBeBetween")
_QUALITY_METRICS = ("rowCount", "nullValues", "missingValues", "duplicateValues")
_LEAST_HISTORY, _MOST_HISTORY = 5, 100
_DIGITS = 40


def read_indicator(node: Node) -> Indicator:
    """Read the one indicator of an objective. Raises RulesFileError."""
    stated = read_members(node, _KINDS)
    if len(stated) != 1:
        raise node.mistake(f"write one indicator: {', '.join(_KINDS)}")
    (found,) = stated.values()
    indicator: Indicator = found
    return indicator


def read_duration(node: Node) -> int:
    """A duration such as `30m`, longer than zero (µs). Raises RulesFileError."""
    try:
        length = duration(node.filled())
    except ValueError as error:
        raise node.mistake(str(error)) from None
    if length < 1:
        raise node.mistake("write a duration that is longer than zero")
    return length


def read_number(node: Node, text: str) -> Fraction:
    """A number that is not negative, exactly as it is written. Raises RulesFileError."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if len(text) > _DIGITS or not value.is_finite() or value < 0 or abs(value.adjusted()) > _DIGITS:
        raise node.mistake("write a number that is not negative")
    return Fraction(value)


def read_share(node: Node) -> Fraction:
    """A share: `99.5%`, or a number such as 0.995. Raises RulesFileError."""
    text = node.filled()
    value = read_number(node, text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    if not 0 <= value <= 1:
        raise node.mistake("write a share, such as 99.5%, or 0.995")
    return value


def _freshness(node: Node) -> Freshness:
    stated = read_members(node, {"limit": read_duration, "age": _age}, ("limit",))
    return Freshness(**stated)


def _age(node: Node) -> Age:
    if node.filled() not in tuple(Age):
        raise node.mistake("write wall (the clock's time), or business (open hours only)")
    return Age(node.filled())


def _delivery(node: Node) -> Delivery:
    stated = read_members(node, {"by": _time, "within": read_duration, "rows": _count}, ("by",))
    return Delivery(**stated)


def _time(node: Node) -> int:
    if (minutes := parse_time(node.filled())) is None or minutes == DAY_MINUTES:
        raise node.mistake("write a time of the day, such as 06:00")
    return minutes


def _count(node: Node) -> int:
    if (number := node.integer()) < 1:
        raise node.mistake("write a number, 1 or more")
    return number


def _quality(node: Node) -> Quality:
    readers = {"metric": _quality_metric, "column": Node.filled, "unit": _unit, "arguments": _arguments, **_OPERATORS}
    stated = read_members(node, readers, ("metric",))
    if stated["metric"] != "rowCount" and "column" not in stated:
        raise node.mistake("'column' is missing")
    return Quality(**_with_operators(node, stated))


def _quality_metric(node: Node) -> str:
    if node.filled() not in _QUALITY_METRICS:
        raise node.mistake(f"write one of {', '.join(_QUALITY_METRICS)}; or use the indicator measurement")
    return node.filled()


def _unit(node: Node) -> str:
    if node.filled() not in ("rows", "percent"):
        raise node.mistake("write rows or percent")
    return node.filled()


def _arguments(node: Node) -> Mapping[str, Any]:
    return read_members(node, {"missingValues": lambda one: [_value(item) for item in one.list()]})


def _value(node: Node) -> str | None:
    return None if node.is_null() else node.string()


def _measurement(node: Node) -> Measured:
    stated = read_members(node, {"metric": Node.filled, "column": Node.filled, **_OPERATORS}, ("metric",))
    return Measured(**_with_operators(node, stated))


def _with_operators(node: Node, stated: dict[str, Any]) -> Mapping[str, Any]:
    operators = {key: stated.pop(key) for key in list(stated) if key in _OPERATORS}
    if not operators:
        raise node.mistake("write a bound, such as mustBeLessThan: 0.5")
    return {**stated, "operators": operators}


def _signed(node: Node) -> float:
    text = node.filled()
    value = float(read_number(node, text.removeprefix("-")))
    return -value if text.startswith("-") else value


def _pair(node: Node) -> list[float]:
    found = [_signed(item) for item in node.list()]
    if len(found) != 2 or found[0] > found[1]:
        raise node.mistake("write the least and the greatest, such as [1, 100]")
    return found


def _check(node: Node) -> Check:
    return Check(**read_members(node, {"assertion": Node.filled, "column": Node.filled}, ("assertion",)))


def _volume(node: Node) -> Volume:
    stated = read_members(node, {"rule": _rule, "history": _history, "tolerance": _tolerance})
    if stated.get("rule") is VolumeRule.SIGMA:
        stated = {"tolerance": 3.0, **stated}
    return Volume(**stated)


def _rule(node: Node) -> VolumeRule:
    if node.filled() not in tuple(VolumeRule):
        raise node.mistake(f"write one of {', '.join(VolumeRule)}")
    return VolumeRule(node.filled())


def _history(node: Node) -> int:
    if not _LEAST_HISTORY <= (number := node.integer()) <= _MOST_HISTORY:
        raise node.mistake(f"write a number of runs, from {_LEAST_HISTORY} to {_MOST_HISTORY}")
    return number


def _tolerance(node: Node) -> float:
    if not 1 <= (value := float(read_number(node, node.filled()))) <= 100:
        raise node.mistake("write a number from 1 to 100")
    return value


def _schema(node: Node) -> SchemaStability:
    return SchemaStability(**read_members(node, {"added": Node.boolean}))


def _lineage(node: Node) -> Lineage:
    stated = read_members(node, {"metric": _lineage_metric, "atLeast": _as_is, "atMost": _as_is}, ("metric",))
    metric: LineageMetric = stated.pop("metric")
    key = _BOUND_OF_LINEAGE.get(metric, "")
    if other := next((one for one in stated if one != key), ""):
        raise node.mistake(f"{metric} has no {other!r}; write {key}" if key else f"{metric} has no bound")
    if not key:
        return Lineage(metric=metric)
    if key not in stated:
        raise node.mistake(f"{key!r} is missing")
    reader = read_duration if metric is LineageMetric.CAPTURE_LATENCY else read_share
    return Lineage(metric=metric, bound=Fraction(reader(stated[key])))


def _as_is(node: Node) -> Node:
    return node


def _lineage_metric(node: Node) -> LineageMetric:
    if node.filled() not in tuple(LineageMetric):
        raise node.mistake(f"write one of {', '.join(LineageMetric)}")
    return LineageMetric(node.filled())


_BOUND_OF_LINEAGE: Mapping[LineageMetric, str] = {
    LineageMetric.COVERAGE: "atLeast",
    LineageMetric.UNKNOWN_UPSTREAM: "atMost",
    LineageMetric.CAPTURE_LATENCY: "atMost",
}
_OPERATORS: Mapping[str, Reader] = {
    **dict.fromkeys(_BOUNDS, _pair),
    "mustBe": _signed,
    "mustNotBe": _signed,
    "mustBeGreaterThan": _signed,
    "mustBeGreaterOrEqualTo": _signed,
    "mustBeLessThan": _signed,
    "mustBeLessOrEqualTo": _signed,
}
_KINDS: Mapping[str, Reader] = {
    "freshness": _freshness,
    "delivery": _delivery,
    "quality": _quality,
    "measurement": _measurement,
    "check": _check,
    "volume": _volume,
    "schema": _schema,
    "lineage": _lineage,
}
