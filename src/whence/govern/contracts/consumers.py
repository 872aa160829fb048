"""Objectives of consumers that are stricter than what a contract promises after a change. Pure functions."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from whence.govern.contracts.changes import ContractChange, Promise
from whence.govern.contracts.contract import Rule, ServiceLevel, current_metric
from whence.govern.contracts.thresholds import AGES, TIME_OF_DAY, amount_of, contains, interval_of, level_kind
from whence.model.names import DatasetName

_TIME = re.compile(r"T?(\d{1,2}):(\d{2})(?::\d{2})?\s*(?:(Z|UTC)|([+-])(\d{2}):?(\d{2}))?", re.IGNORECASE)
_ROWS = ("", "rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumAge:
    """Data may be at most so old (seconds by the clock)."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyDelivery:
    """Data is there by a minute of the day in a time zone, and new `pause` (seconds) after the time before."""

    by: int
    zone: str
    pause: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A number of a column (empty: of the dataset) is within the bounds of a quality rule."""

    column: str
    rule: Rule


Demand = MaximumAge | DailyDelivery | Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerObjective:
    """A service level objective of a dataset that may depend on a contract. `service`: whose it is; `owners`: of its
    dataset. `demand`: what it needs; None if a contract promises nothing of that kind. `text`: the demand, for people.
    """

    service: str
    name: str
    dataset: DatasetName
    owners: tuple[str, ...] = ()
    demand: Demand | None = None
    text: str = ""

    @property
    def whose(self) -> tuple[str, ...]:
        """Who is to know that it is not kept."""
        return self.owners or (self.service,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objectives:
    """The objectives of what a change may concern. `unknown`: why there may be more; empty: that is all."""

    found: tuple[ConsumerObjective, ...] = ()
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stricter:
    """An objective that is stricter than the promise. `was_kept`: it was not stricter than the one before."""

    objective: ConsumerObjective
    was_kept: bool


FindObjectives = Callable[[ContractChange], Objectives]
"""Finds the objectives of the datasets of a change, and of what is downstream of them."""


def has_objectives(change: ContractChange) -> bool:
    """Whether an objective can be stricter than what a change promises: none can about retention, for example."""
    promise = next((one for one in change.promises if one is not None), None)
    match promise:
        case ServiceLevel():
            return level_kind(promise) in AGES | {TIME_OF_DAY}
        case Rule():
            return bool(promise.metric)
    return False


def find_stricter(change: ContractChange, objectives: Objectives, now: int) -> Iterator[Stricter]:
    """The objectives that what is promised after a change no longer covers, at a time (µs UTC, for time zones).

    A quality rule is about the datasets of the change alone: what is downstream has other rows.
    """
    before, after = change.promises
    kind = before or after
    for one in objectives.found:
        if one.demand is None or kind is None or (isinstance(kind, Rule) and not _is_of(one, change)):
            continue
        if _is_about(kind, one.demand) and not _keeps(after, one.demand, now):
            yield Stricter(objective=one, was_kept=_keeps(before, one.demand, now))


def _is_of(one: ConsumerObjective, change: ContractChange) -> bool:
    column = one.demand.column if isinstance(one.demand, Bounds) else ""
    return one.dataset in change.datasets and column.casefold() == change.column.casefold()


def _is_about(promise: Promise, demand: Demand) -> bool:
    """Whether a promise is of the kind that an objective demands."""
    match promise, demand:
        case ServiceLevel(), MaximumAge():
            return level_kind(promise) in AGES
        case ServiceLevel(), DailyDelivery():
            return level_kind(promise) in AGES | {TIME_OF_DAY}
        case Rule(), Bounds():
            return _measure_of(promise) == _measure_of(demand.rule)
    return False


def _measure_of(rule: Rule) -> tuple[object, ...]:
    unit = "" if rule.unit.casefold() in _ROWS else rule.unit.casefold()
    return current_metric(rule.metric), unit, sorted((key, str(value)) for key, value in rule.arguments.items())


def _keeps(promise: Promise | None, demand: Demand, now: int) -> bool:
    """Whether a dataset that keeps its promise gives an objective what it demands. What cannot be compared does not."""
    match promise, demand:
        case ServiceLevel(), MaximumAge():
            return _is_at_most(promise, demand.seconds)
        case ServiceLevel(), DailyDelivery() if level_kind(promise) == TIME_OF_DAY:
            minute = _minute_of(promise.value, demand.zone, now)
            return minute is not None and minute <= demand.by
        case ServiceLevel(), DailyDelivery():
            return _is_at_most(promise, demand.pause)
        case Rule(), Bounds():
            promised, wanted = interval_of(promise.operators), interval_of(demand.rule.operators)
            if promised is None or wanted is None:
                return promise.operators == demand.rule.operators
            return contains(wanted, promised)
    return False


def _is_at_most(level: ServiceLevel, seconds: float) -> bool:
    amount = amount_of(level)
    return isinstance(amount, float) and amount <= seconds


def _minute_of(value: object, zone: str, now: int) -> int | None:
    """The minute of the day in a zone at which a time such as `09:00-08:00` is; without an offset it is in that zone.
    None if it is no time of day.
    """
    found = _TIME.fullmatch(str(value).strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        return None
    at = time(int(found[1]), int(found[2]))
    if (offset := _offset_of(found)) is not None:
        today = datetime.fromtimestamp(now / 1_000_000, UTC).date()
        at = datetime.combine(today, at, timezone(offset)).astimezone(ZoneInfo(zone)).time()
    return at.hour * 60 + at.minute


def _offset_of(found: re.Match[str]) -> timedelta | None:
    if found[3]:
        return timedelta()
    if not found[4]:
        return None
    return (-1 if found[4] == "-" else 1) * timedelta(hours=int(found[5]) % 24, minutes=int(found[6]) % 60)
