"""Service level objectives as values, in OpenSLO's words: indicator, objective, target, time window."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from whence.govern.slos.calendars import ALWAYS, Calendar, Maintenance
from whence.model.names import DatasetName

DAY = 86_400_000_000
"""Microseconds."""


class Age(StrEnum):
    """How the age of data is counted: by the clock, or only in open hours."""

    WALL = "wall"
    BUSINESS = "business"


class Notify(StrEnum):
    """How urgent an alert is."""

    PAGE = "page"
    TICKET = "ticket"


class Budgeting(StrEnum):
    """What an error budget counts: open time, or occurrences such as runs and deliveries."""

    TIMESLICES = "Timeslices"
    OCCURRENCES = "Occurrences"


class VolumeRule(StrEnum):
    """How an expected number of rows follows from earlier ones."""

    ROBUST = "robust"
    SIGMA = "sigma"


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """Data is at most `limit` (µs) old."""

    limit: int
    age: Age = Age.WALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """On each day with open hours, a write of at least `rows` rows is there by a local time (minutes since midnight),
    not earlier than `within` (µs) before it.
    """

    by: int
    within: int = DAY
    rows: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Each reported measurement fulfils a rule in the words of the Open Data Contract Standard."""

    metric: str
    column: str = ""
    unit: str = ""
    operators: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Each reported number of one metric, such as `sum` of a column, is within bounds."""

    metric: str
    column: str = ""
    operators: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Each result of an assertion, by its name, is that it held."""

    assertion: str
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """The rows that each run writes are as many as those of `history` earlier runs let expect.

    `tolerance`: so many median absolute deviations, or standard deviations by the rule `sigma`.
    """

    rule: VolumeRule = VolumeRule.ROBUST
    history: int = 14
    tolerance: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaStability:
    """No column disappears, and none changes its type. `added`: nor is one added."""

    added: bool = False


class LineageMetric(StrEnum):
    """What is measured of the lineage that runs report."""

    COVERAGE = "coverage"
    UNKNOWN_UPSTREAM = "unknownUpstream"
    CAPTURE_LATENCY = "captureLatency"
    LOSS = "loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The lineage that runs report of the dataset: of each the share of columns whose sources it reports is at least
    `bound`, that of sources of which nobody knows the origin at most; its end is received within `bound` (µs); or
    none of its ends is missing.
    """

    metric: LineageMetric
    bound: Fraction = Fraction(0)


Indicator = Freshness | Delivery | Quality | Measured | Check | Volume | SchemaStability | Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRate:
    """An alert on a time budget: it opens when both windows burn the budget at a factor, and closes when the long one
    burns it at less than half of that. Windows are open time (µs). `budget`: the share of the budget that the long
    window uses at the factor.
    """

    budget: Fraction
    long: int
    short: int
    notify: Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """An alert on occurrences: it opens when `bad` of the last `of` are bad, and closes when all of these are good."""

    bad: int
    of: int
    notify: Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A service level objective of a dataset. `target`: the share that is good; `window`: a rolling period (µs).

    `runbook`: the address of what to do when it is violated. `text`: the objective alone, as canonical JSON of the form
    of `slos.yaml`; `place`: where it is written.
    """

    service: str
    name: str
    dataset: DatasetName
    indicator: Indicator
    target: Fraction
    window: int = 30 * DAY
    description: str = ""
    runbook: str = ""
    calendar: Calendar = ALWAYS
    maintenance: tuple[Maintenance, ...] = ()
    burn_rates: tuple[BurnRate, ...] = ()
    misses: tuple[Misses, ...] = ()
    text: str = ""
    place: str = ""

    @property
    def budgeting(self) -> Budgeting:
        """What the error budget counts."""
        return Budgeting.TIMESLICES if isinstance(self.indicator, Freshness) else Budgeting.OCCURRENCES

    @property
    def column(self) -> str:
        """The column that its indicator is about; empty: the dataset."""
        match self.indicator:
            case Quality() | Measured() | Check():
                return self.indicator.column
        return ""

    @property
    def alerting(self) -> tuple[BurnRate | Misses, ...]:
        """All its alerts."""
        return (*self.burn_rates, *self.misses)

    @property
    def pages(self) -> bool:
        """Whether one of its alerts wakes somebody."""
        return any(one.notify is Notify.PAGE for one in self.alerting)


def kind_of_indicator(indicator: Indicator) -> str:
    """The name of an indicator's kind, as in `slos.yaml`."""
    return _KINDS[type(indicator)]


_KINDS: Mapping[type[Indicator], str] = {
    Freshness: "freshness",
    Delivery: "delivery",
    Quality: "quality",
    Measured: "measurement",
    Check: "check",
    Volume: "volume",
    SchemaStability: "schema",
    Lineage: "lineage",
}
