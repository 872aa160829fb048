"""Verdicts on the rules of a contract, and whether an interval of possible values fulfils a threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from whence.model.names import RunName


class Outcome(StrEnum):
    """What is known of a rule."""

    HOLDS = "holds"
    VIOLATED = "violated"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """A quality rule or a service level of a contract, and what is known of it.

    `expected` and `observed`: as people read them; `reason`: why it is not evaluated; `time` (µs), `run`: of the report
    that it follows from.
    """

    rule: str
    outcome: Outcome
    column: str = ""
    expected: str = ""
    observed: str = ""
    reason: str = ""
    time: int | None = None
    run: RunName | None = None


_DIGITS = (6, 9, 12, 17)
_MOST_COUNTED = 1e15


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a number may have: one, if the two ends are equal."""

    low: float
    high: float

    def describe(self, operators: Mapping[str, Any] | None = None) -> str:
        """As people read it: with six digits, or with as many as it takes to see whether the operators are
        fulfilled.
        """
        wanted = fulfils(operators or {}, self)
        for digits in _DIGITS:
            low, high = (number_text(end, digits) for end in (self.low, self.high))
            if fulfils(operators or {}, Range(float(low), float(high))) is wanted:
                break
        if low == high:
            return low
        return f"at least {low}" if self.high == float("inf") else f"{low} to {high}"


def number_text(value: float, digits: int = 6) -> str:
    """A number as people read it: counts are whole, all else is rounded to so many digits."""
    is_count = abs(value) < _MOST_COUNTED and value == int(value)
    return f"{value:.0f}" if is_count else f"{value:.{digits}g}"


def fulfils(operators: Mapping[str, Any], found: Range) -> bool | None:
    """Whether all values in a range fulfil the operators: False if none does, None if that is not known.

    The two ends of `mustBeBetween` count as between. An operator that is not known is never fulfilled for sure.
    """
    answers = [_fulfils(operator, bound, found) for operator, bound in operators.items()]
    if False in answers:
        return False
    return True if answers and None not in answers else None


def _fulfils(operator: str, bound: Any, found: Range) -> bool | None:
    bounds = bound if isinstance(bound, list) else [bound, bound]
    if len(bounds) != 2 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in bounds):
        return None
    least, greatest = bounds
    match operator:
        case "mustBe" | "mustBeBetween":
            return _is_inside(found, least, greatest)
        case "mustNotBe" | "mustNotBeBetween":
            inside = _is_inside(found, least, greatest)
            return None if inside is None else not inside
        case "mustBeGreaterThan":
            return _decide(found.low > least, found.high <= least)
        case "mustBeGreaterOrEqualTo":
            return _decide(found.low >= least, found.high < least)
        case "mustBeLessThan":
            return _decide(found.high < greatest, found.low >= greatest)
        case "mustBeLessOrEqualTo":
            return _decide(found.high <= greatest, found.low > greatest)
    return None


def _is_inside(found: Range, least: float, greatest: float) -> bool | None:
    return _decide(least <= found.low and found.high <= greatest, found.high < least or found.low > greatest)


def _decide(always: bool, never: bool) -> bool | None:
    return True if always else False if never else None
