"""The weekly report as sections of sentences and tables: what Markdown, HTML, mail and Slack have in common.

A figure that cannot be known is a sentence about why, or `not known`, and never 0.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from whence.client.acts.reports import (
    ReportBudgets,
    ReportCoverage,
    ReportDowntime,
    ReportDurations,
    ReportGate,
    ReportIncidents,
    ReportResponse,
    ReportUnknownUpstreams,
    ReportUsage,
    ReportViolations,
    WeeklyReport,
)
from whence.govern.reports.rendering.numbers import (
    NOT_KNOWN,
    bytes_text,
    change_text,
    count_text,
    day_text,
    length_text,
    share_text,
)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of something, from anybody's events."""

    text: str


Cell = str | Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its heads."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report: sentences, a table, and notes under it."""

    title: str
    sentences: tuple[str, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()


def title_of(found: WeeklyReport) -> str:
    """The title of a report."""
    period = found.period
    return f"Week {period.week}" if period.week else f"Seven days until {day_text(period.end)}"


def period_text(found: WeeklyReport) -> str:
    """Which time it is about, and as of when."""
    period = found.period
    over = "" if period.over else ". It is not over: later figures will differ"
    return f"{day_text(period.since)} to {day_text(period.end)}, as of {day_text(period.until)}{over}."


def sections_of(found: WeeklyReport) -> tuple[Section, ...]:
    """The sections in order."""
    return (
        _coverage(found.coverage_before, found.coverage_after),
        _incidents(found.incidents),
        _downtime(found.downtime),
        _budgets(found.budgets),
        _violations(found.violations),
        _unknown_upstreams(found.unknown_upstreams),
        _gate(found.gate),
        _usage(found.usage),
    )


def _coverage(before: ReportCoverage | None, after: ReportCoverage | None) -> Section:
    rows = (
        ("Datasets with lineage", "lineage", "datasets"),
        ("Datasets with lineage of columns", "columns", "datasets"),
        ("Tier 1 with lineage", "tier1_lineage", "tier1"),
        ("Tier 1 with lineage of columns", "tier1_columns", "tier1"),
    )
    table = Table(
        heads=("", "Before", "At the end", "Change"),
        rows=tuple((label, *_compared(before, after, part, whole)) for label, part, whole in rows),
    )
    notes = ("Retention deleted the lineage of the time that is not known.",) if None in (before, after) else ()
    return Section(title="Coverage", table=table, notes=notes)


def _compared(before: ReportCoverage | None, after: ReportCoverage | None, part: str, whole: str) -> tuple[str, ...]:
    pairs = [None if one is None else (getattr(one, part), getattr(one, whole)) for one in (before, after)]
    texts = [NOT_KNOWN if pair is None else share_text(*pair) for pair in pairs]
    return (*texts, change_text(*pairs))


def _incidents(found: ReportIncidents) -> Section:
    total = found.total
    sentences = [
        f"{count_text(total.began, 'incident')} began, {total.paged} of them urgent enough to page somebody. "
        f"{total.resolved} resolved, {total.open} open at the end."
    ]
    if total.over_unseen:
        sentences.append(f"Over before they were detected: {count_text(total.over_unseen, 'incident')}.")
    sentences.append(_confirmed(total))
    notes = [] if found.complete else ["Not all failed runs and checks were read: there are too many."]
    if found.hidden:
        notes.append(f"The rows of domains leave out {count_text(found.hidden, 'incident')} that you may not see.")
    table = Table(
        heads=("", "Began", "Time to detect", "Time to identify", "Time to resolve"),
        rows=(_response("All", total), *(_response(one.domain or "", one) for one in found.domains)),
    )
    return Section(title="Incidents", sentences=tuple(sentences), table=table, notes=tuple(notes))


def _confirmed(one: ReportResponse) -> str:
    undecided = f"; {one.undecided} more may still be" if one.undecided else ""
    if not one.confirmable:
        return (
            f"How many causes are confirmed within 30 min is not known: no incident is known to be detected{undecided}."
        )
    share = share_text(one.confirmed, one.confirmable)
    return f"Cause confirmed within 30 min of detection: {share}{undecided}."


def _response(label: str, one: ReportResponse) -> tuple[Cell, ...]:
    name: Cell = label if one.domain is None else Name(label) if label else "no domain"
    durations = (one.time_to_detect, one.time_to_identify, one.time_to_resolve)
    return (name, str(one.began), *map(_durations, durations))


def _durations(one: ReportDurations) -> str:
    if one.median is None or one.p90 is None:
        return NOT_KNOWN if one.unknown else "none"
    unknown = f", {one.unknown} not known" if one.unknown else ""
    return f"median {length_text(one.median)}, p90 {length_text(one.p90)} ({one.count}{unknown})"


def _downtime(found: ReportDowntime) -> Section:
    every = found.watched + found.unwatched
    if not every:
        return Section(title="Downtime of tier 1", sentences=("No dataset is of tier 1.",))
    sentences = [
        "Not known: nothing watches a dataset of tier 1."
        if found.seconds is None
        else f"{length_text(found.seconds)} in all, of {count_text(found.watched, 'watched dataset')}."
    ]
    if found.unwatched and found.watched:
        sentences.append(f"{count_text(found.unwatched, 'other dataset')} of tier 1 nothing watches: not known.")
    rows = (
        (Name(one.dataset), NOT_KNOWN if one.seconds is None else length_text(one.seconds), length_text(one.watched))
        for one in found.datasets
    )
    table = Table(heads=("Dataset", "Downtime", "Watched"), rows=tuple(rows)) if found.datasets else None
    return Section(
        title="Downtime of tier 1", sentences=tuple(sentences), table=table, notes=_left_out(found.more, found.hidden)
    )


def _budgets(found: ReportBudgets) -> Section:
    if not found.objectives:
        return Section(title="Error budgets", sentences=("No objective is declared.",))
    sentences = [f"{count_text(found.objectives, 'objective')}, {found.overdrawn} overdrawn."]
    if found.unknown:
        sentences.append(f"{found.unknown} without a budget that is known.")
    if found.suppressed:
        sentences.append(f"Of {found.suppressed} more than 20 % of the time window does not count.")
    rows = (
        (
            Name(one.slo),
            Name(one.dataset),
            one.state,
            NOT_KNOWN if one.remaining is None else f"{one.remaining:.0%}",
        )
        for one in found.lowest
    )
    table = Table(heads=("Objective", "Dataset", "State", "Budget left"), rows=tuple(rows)) if found.lowest else None
    return Section(
        title="Error budgets", sentences=tuple(sentences), table=table, notes=_left_out(found.more, found.hidden)
    )


def _violations(found: ReportViolations) -> Section:
    counts = (
        count_text(found.objectives, "objective"),
        count_text(found.contract_rules, "rule of contracts", "rules of contracts"),
        count_text(found.checks, "check"),
        count_text(found.runs, "run"),
    )
    declared = (
        count_text(found.policies, "policy", "policies"),
        count_text(found.certifications, "certification"),
        count_text(found.lineage_baselines, "accepted lineage"),
    )
    sentences = (
        f"Began to be violated, or failed: {', '.join(counts)}.",
        f"Declared rules that ceased to hold: {', '.join(declared)}.",
    )
    notes = () if found.complete else ("At least so many: not everything was read.",)
    return Section(title="Violations", sentences=sentences, notes=notes)


def _unknown_upstreams(found: ReportUnknownUpstreams) -> Section:
    if found.total is None:
        return Section(title="Unknown upstreams", sentences=("Not known: retention deleted the lineage.",))
    new = "how many are new is not known" if found.new is None else f"{found.new} new"
    sentence = f"{count_text(found.total, 'dataset')} of which nobody knows where the data comes from, {new}."
    rows = tuple((Name(name),) for name in found.names)
    return Section(
        title="Unknown upstreams",
        sentences=(sentence,),
        table=Table(heads=("New",), rows=rows) if rows else None,
        notes=_left_out(found.more, found.hidden),
    )


def _gate(found: ReportGate) -> Section:
    commits, promotions = (sum(one.values()) for one in (found.commits, found.promotions))
    if not commits and not promotions and not found.approvals and not found.waivers:
        return Section(title="Gates", sentences=("No gate recorded a verdict.",))
    sentences = (
        f"{count_text(commits, 'commit')}{_verdicts(found.commits.items())}.",
        f"{count_text(promotions, 'promotion')}{_verdicts(found.promotions.items())}.",
        f"{count_text(found.approvals, 'approval')}, {count_text(found.waivers, 'waiver')}.",
    )
    return Section(title="Gates", sentences=sentences)


def _verdicts(counts: Iterable[tuple[str, int]]) -> str:
    texts = [f"{count} {verdict}" for verdict, count in counts]
    return f": {', '.join(texts)}" if texts else ""


def _usage(found: ReportUsage | None) -> Section:
    title = "Unused datasets"
    if found is None:
        return Section(title=title, sentences=("Not known: retention deleted reads of the time.",))
    sentences = list(_usage_sentences(found))
    rows = ((Name(one.dataset), _size(one.bytes, of_last_write=one.of_last_write)) for one in found.largest)
    table = Table(heads=("Dataset", "Size"), rows=tuple(rows)) if found.largest else None
    return Section(title=title, sentences=tuple(sentences), table=table, notes=_left_out(found.more, found.hidden))


def _usage_sentences(found: ReportUsage) -> Iterator[str]:
    if not found.judged:
        yield f"Not known: no dataset is known for {found.days} days."
        return
    yield f"{found.unused} of {count_text(found.judged, 'dataset')} were read by no run for {found.days} days."
    if found.unused:
        size = NOT_KNOWN if found.bytes is None else bytes_text(found.bytes)
        unsized = f", and {found.unsized} of unknown size" if found.unsized and found.bytes is not None else ""
        yield f"Their size: {size}{unsized}."
    if found.too_new:
        yield f"{count_text(found.too_new, 'other')} known for a shorter time."


def _size(size: int | None, *, of_last_write: bool) -> str:
    if size is None:
        return NOT_KNOWN
    return f"{bytes_text(size)} in the last write" if of_last_write else bytes_text(size)


def _left_out(more: int, hidden: int) -> tuple[str, ...]:
    notes: Sequence[str] = (
        f"And {more} more." if more else "",
        f"And {hidden} that you may not see." if hidden else "",
    )
    return tuple(filter(None, notes))
