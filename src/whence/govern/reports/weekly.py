"""The weekly report as values, before anybody's rights are applied. Times and durations are in µs."""

from collections.abc import Mapping
from dataclasses import dataclass

from whence.govern.incidents.findings import FindingKind
from whence.govern.reports.downtime import Downtime
from whence.govern.reports.incident_times import IncidentTimes
from whence.govern.reports.period import ReportPeriod
from whence.govern.slos.declared import EvaluatedSlo
from whence.model.gate_records import VerdictText
from whence.model.names import DatasetName
from whence.store.status.dataset_usage import ReportedSize


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageAt:
    """The datasets at a time, and those with lineage, and with lineage of columns; the same of tier 1."""

    datasets: int
    lineage: int
    columns: int
    tier1: int
    tier1_lineage: int
    tier1_columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedIncident:
    """The times of an incident, its root, and the root's domain; empty without one."""

    root: DatasetName
    domain: str
    times: IncidentTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class Violations:
    """How many findings of each kind began. `is_all`: everything was read."""

    findings: Mapping[FindingKind, int]
    is_all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcomes:
    """Verdicts on commits and on promotions by what they are, approvals of commits, and waivers of changes."""

    commits: Mapping[VerdictText, int]
    promotions: Mapping[VerdictText, int]
    approvals: int
    waivers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedDataset:
    """A dataset that nothing read, and its last reported size."""

    dataset: DatasetName
    size: ReportedSize | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Datasets that no run read for so many days, of those that are known for as long (`judged`); `too_new` are not."""

    days: int
    unused: tuple[UnusedDataset, ...]
    judged: int
    too_new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyReport:
    """What happened in a week. What is None cannot be known, because retention deleted what it follows from.

    `position`: where the store was; `incidents_complete`: whether all failed runs and checks were read.
    `unknown_upstreams`: datasets that others are made of, and of which nobody knows where they come from, at the end;
    `new_unknown_upstreams`: those that were none at the beginning.
    """

    period: ReportPeriod
    position: tuple[int, ...]
    coverage_before: CoverageAt | None
    coverage_after: CoverageAt | None
    incidents: tuple[ReportedIncident, ...]
    incidents_complete: bool
    downtime: Mapping[DatasetName, Downtime]
    budgets: tuple[EvaluatedSlo, ...]
    violations: Violations
    unknown_upstreams: tuple[DatasetName, ...] | None
    new_unknown_upstreams: tuple[DatasetName, ...] | None
    gate: GateOutcomes
    usage: Usage | None
