"""The weekly report: the question, and the values of its answer."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from whence.client.connection import Connection
from whence.client.options import Time, iso_text

Value = TypeVar("Value")


class ReportWeek(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a report. `week`: None if it is no week of ISO 8601; `until`: what happened later is not known."""

    week: str | None
    since: str
    end: str
    until: str
    over: bool


class ReportCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """Datasets at a time, those with lineage and with lineage of columns, and the same of tier 1."""

    datasets: int
    lineage: int
    columns: int
    tier1: int
    tier1_lineage: int
    tier1_columns: int


class ReportDurations(msgspec.Struct, frozen=True, kw_only=True):
    """Durations in seconds. Of none, median and p90 are None. `unknown`: how many more there are."""

    count: int
    median: float | None
    p90: float | None
    unknown: int


class ReportResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to incidents. `domain`: of their roots; None for all incidents together; empty: no domain.

    `confirmed`: of `confirmable` ones, those whose cause was confirmed within 30 min; `undecided`: not known yet.
    """

    domain: str | None
    began: int
    paged: int
    resolved: int
    open: int
    time_to_detect: ReportDurations
    time_to_identify: ReportDurations
    time_to_resolve: ReportDurations
    over_unseen: int
    confirmed: int
    confirmable: int
    undecided: int


class ReportIncidents(msgspec.Struct, frozen=True, kw_only=True):
    """All incidents, and those of visible roots by domain; `hidden`: how many have another root.

    `complete`: whether all failed runs and checks were read.
    """

    total: ReportResponse
    domains: tuple[ReportResponse, ...]
    hidden: int
    complete: bool


class DatasetDowntime(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds a dataset was wrong, of those in which it was watched. None: nothing watched it."""

    dataset: str
    seconds: float | None
    watched: float


class ReportDowntime(msgspec.Struct, frozen=True, kw_only=True):
    """The datasets of tier 1. `seconds`: of all that were watched, None if none was; `unwatched`: how many were not."""

    seconds: float | None
    watched: int
    unwatched: int
    datasets: tuple[DatasetDowntime, ...]
    hidden: int
    more: int


class BudgetLeft(msgspec.Struct, frozen=True, kw_only=True):
    """An objective at the end. `remaining`: the share of its error budget, negative if it is overdrawn; None if it is
    not known, or if nothing may be bad.
    """

    id: str
    slo: str
    dataset: str
    state: str
    remaining: float | None
    suppressed_share: float | None


class ReportBudgets(msgspec.Struct, frozen=True, kw_only=True):
    """The declared objectives, the least remaining budget first. `unknown`: objectives without a budget that is known;
    `suppressed`: those of whose window more than a fifth does not count.
    """

    objectives: int
    overdrawn: int
    unknown: int
    suppressed: int
    lowest: tuple[BudgetLeft, ...]
    hidden: int
    more: int


class ReportViolations(msgspec.Struct, frozen=True, kw_only=True):
    """What began to be wrong. `certifications`: those that lapsed; `lineage_baselines`: lineages that began to differ
    from the accepted one. `complete`: False if there may be more.
    """

    objectives: int
    checks: int
    runs: int
    contract_rules: int
    complete: bool
    policies: int = 0
    certifications: int = 0
    lineage_baselines: int = 0


class ReportUnknownUpstreams(msgspec.Struct, frozen=True, kw_only=True):
    """Datasets that others are made of, and whose origin nobody knows: at the end, and those that are new. None: what
    they follow from was deleted.
    """

    total: int | None
    new: int | None
    names: tuple[str, ...]
    hidden: int
    more: int


class ReportGate(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts on commits and on promotions by what they are, and what people decided."""

    commits: Mapping[str, int]
    promotions: Mapping[str, int]
    approvals: int
    waivers: int


class ReportUnusedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset, and its last reported bytes, None without any; `of_last_write`: of that alone."""

    dataset: str
    bytes: int | None
    of_last_write: bool


class ReportUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Datasets that no run read for `days`. `bytes`: of those whose size is known, None without any; `unsized`: how
    many others there are; `too_new`: known for a shorter time.
    """

    days: int
    judged: int
    too_new: int
    unused: int
    bytes: int | None
    unsized: int
    largest: tuple[ReportUnusedDataset, ...]
    hidden: int
    more: int


class WeeklyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The weekly report. Whatever is None cannot be known."""

    period: ReportWeek
    position: str
    coverage_before: ReportCoverage | None
    coverage_after: ReportCoverage | None
    incidents: ReportIncidents
    downtime: ReportDowntime
    budgets: ReportBudgets
    violations: ReportViolations
    unknown_upstreams: ReportUnknownUpstreams
    gate: ReportGate
    usage: ReportUsage | None


class WeeklyReportAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The envelope of a report."""

    data: WeeklyReport


class _Connected(Protocol):
    """The client of a server."""

    _connection: Connection

    def _converted(self, value: Any, type_: type[Value]) -> Value: ...


class ReportQuestions:
    """The questions of a client about reports."""

    def weekly_report(
        self: _Connected, *, week: str = "", until: Time | None = None, as_of: Time | None = None
    ) -> WeeklyReport:
        """The report of a week (`2026-W47`), or of the seven days until a time; of the last week that is over by
        default. What happened from `as_of` on is not known.
        """
        options = {"week": week or None, "until": iso_text(until), "as_of": iso_text(as_of)}
        answer = self._connection.get("/api/v2/reports/weekly", options)
        return self._converted(answer, WeeklyReportAnswer).data
