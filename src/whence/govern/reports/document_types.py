"""The form of the weekly report as JSON."""

from typing_extensions import TypedDict


class ReportWeek(TypedDict):
    """The time of a report. `week`: null if it is no week of ISO 8601; `until`: what happened later is not known."""

    week: str | None
    since: str
    end: str
    until: str
    over: bool


class ReportCoverage(TypedDict):
    """Datasets at a time, those with lineage and with lineage of columns, and the same of tier 1."""

    datasets: int
    lineage: int
    columns: int
    tier1: int
    tier1_lineage: int
    tier1_columns: int


class ReportDurations(TypedDict):
    """Durations in seconds. Of none, median and p90 are null. `unknown`: how many more there are."""

    count: int
    median: float | None
    p90: float | None
    unknown: int


class ReportResponse(TypedDict):
    """What happened to incidents. `domain`: of their roots; null for all incidents together; empty: no domain.

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


class ReportIncidents(TypedDict):
    """All incidents, and those of visible roots by domain; `hidden`: how many have another root.

    `complete`: whether all failed runs and checks were read.
    """

    total: ReportResponse
    domains: list[ReportResponse]
    hidden: int
    complete: bool


class DatasetDowntime(TypedDict):
    """For how many seconds a dataset was wrong, of those in which it was watched. null: nothing watched it."""

    dataset: str
    seconds: float | None
    watched: float


class ReportDowntime(TypedDict):
    """The datasets of tier 1. `seconds`: of all that were watched, null if none was; `unwatched`: how many were not."""

    seconds: float | None
    watched: int
    unwatched: int
    datasets: list[DatasetDowntime]
    hidden: int
    more: int


class BudgetLeft(TypedDict):
    """An objective at the end. `remaining`: the share of its error budget, negative if it is overdrawn; null if it is
    not known, or if nothing may be bad.
    """

    id: str
    slo: str
    dataset: str
    state: str
    remaining: float | None
    suppressed_share: float | None


class ReportBudgets(TypedDict):
    """The declared objectives, the least remaining budget first. `unknown`: objectives without a budget that is known;
    `suppressed`: those of whose window more than a fifth does not count.
    """

    objectives: int
    overdrawn: int
    unknown: int
    suppressed: int
    lowest: list[BudgetLeft]
    hidden: int
    more: int


class ReportViolations(TypedDict):
    """What began to be wrong. `certifications`: those that lapsed; `lineage_baselines`: lineages that began to differ
    from the accepted one. `complete`: false if there may be more.
    """

    objectives: int
    checks: int
    runs: int
    contract_rules: int
    policies: int
    certifications: int
    lineage_baselines: int
    complete: bool


class ReportUnknownUpstreams(TypedDict):
    """Datasets that others are made of, and whose origin nobody knows: at the end, and those that are new. null: what
    they follow from was deleted.
    """

    total: int | None
    new: int | None
    names: list[str]
    hidden: int
    more: int


class ReportGate(TypedDict):
    """Verdicts on commits and on promotions by what they are, and what people decided."""

    commits: dict[str, int]
    promotions: dict[str, int]
    approvals: int
    waivers: int


class ReportUnusedDataset(TypedDict):
    """A dataset, and its last reported bytes, null without any; `of_last_write`: of that alone."""

    dataset: str
    bytes: int | None
    of_last_write: bool


class ReportUsage(TypedDict):
    """Datasets that no run read for `days`. `bytes`: of those whose size is known, null without any; `unsized`: how
    many others there are; `too_new`: known for a shorter time.
    """

    days: int
    judged: int
    too_new: int
    unused: int
    bytes: int | None
    unsized: int
    largest: list[ReportUnusedDataset]
    hidden: int
    more: int


class WeeklyDocument(TypedDict):
    """The weekly report. Whatever is null cannot be known."""

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
