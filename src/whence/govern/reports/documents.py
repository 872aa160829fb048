"""The weekly report as JSON, for the API and the command line alike, as one viewer may read it.

Figures are of everything, the same for every viewer. Names that the viewer may not see are counted.
"""

from collections.abc import Iterable, Mapping, Sequence

from whence.govern.incidents.findings import FindingKind
from whence.govern.reports.document_types import (
    BudgetLeft,
    ReportBudgets,
    ReportCoverage,
    ReportDowntime,
    ReportDurations,
    ReportGate,
    ReportIncidents,
    ReportResponse,
    ReportUnknownUpstreams,
    ReportUnusedDataset,
    ReportUsage,
    ReportWeek,
    WeeklyDocument,
)
from whence.govern.reports.durations import Durations
from whence.govern.reports.incident_times import ResponseTimes, measure_response
from whence.govern.reports.period import ReportPeriod
from whence.govern.reports.weekly import CoverageAt, GateOutcomes, ReportedIncident, UnusedDataset, Usage, WeeklyReport
from whence.govern.slos.declared import EvaluatedSlo
from whence.govern.slos.documents import slo_row
from whence.log.position import Position, format_positions
from whence.model.access import Viewer
from whence.model.gate_records import VerdictText
from whence.query.answers.instants import iso

MOST_NAMED = 100
"""The most rows of one list in a report. How many there are besides is counted."""
_MUCH_SUPPRESSED = 0.2
"""The share of a time window without counting from which on it is worth a note."""


def report_document(found: WeeklyReport, viewer: Viewer) -> WeeklyDocument:
    """A report as a viewer may read it."""
    kinds = found.violations.findings
    return {
        "period": _period(found.period),
        "position": format_positions(map(Position.from_int, found.position)),
        "coverage_before": _coverage(found.coverage_before),
        "coverage_after": _coverage(found.coverage_after),
        "incidents": _incidents(found, viewer),
        "downtime": _downtime(found, viewer),
        "budgets": _budgets(found.budgets, viewer),
        "violations": {
            "objectives": kinds.get(FindingKind.SLO, 0),
            "checks": kinds.get(FindingKind.CHECK, 0),
            "runs": kinds.get(FindingKind.RUN, 0),
            "contract_rules": kinds.get(FindingKind.CONTRACT, 0),
            "policies": kinds.get(FindingKind.POLICY, 0),
            "certifications": kinds.get(FindingKind.CERTIFICATION, 0),
            "lineage_baselines": kinds.get(FindingKind.LINEAGE, 0),
            "complete": found.violations.is_all,
        },
        "unknown_upstreams": _unknown_upstreams(found, viewer),
        "gate": _gate(found.gate),
        "usage": None if found.usage is None else _usage(found.usage, viewer),
    }


def _period(one: ReportPeriod) -> ReportWeek:
    return {
        "week": one.week or None,
        "since": iso(one.since),
        "end": iso(one.end),
        "until": iso(one.until),
        "over": one.is_over,
    }


def _coverage(one: CoverageAt | None) -> ReportCoverage | None:
    if one is None:
        return None
    return {
        "datasets": one.datasets,
        "lineage": one.lineage,
        "columns": one.columns,
        "tier1": one.tier1,
        "tier1_lineage": one.tier1_lineage,
        "tier1_columns": one.tier1_columns,
    }


def _incidents(found: WeeklyReport, viewer: Viewer) -> ReportIncidents:
    seen = [one for one in found.incidents if viewer.can_see(one.root)]
    counted = [one for one in found.incidents if _is_of(one, found.period)]
    domains = sorted({one.domain for one in seen if _is_of(one, found.period)})
    return {
        "total": _response(None, found.incidents, found.period),
        "domains": [_response(name, [one for one in seen if one.domain == name], found.period) for name in domains],
        "hidden": sum(not viewer.can_see(one.root) for one in counted),
        "complete": found.incidents_complete,
    }


def _is_of(one: ReportedIncident, period: ReportPeriod) -> bool:
    """Whether the incident was open in the period, or something was done about it then."""
    return one.times.resolved is None or period.has(one.times.resolved) or period.has(one.times.identified)


def _response(domain: str | None, incidents: Iterable[ReportedIncident], period: ReportPeriod) -> ReportResponse:
    one: ResponseTimes = measure_response((each.times for each in incidents), period)
    return {
        "domain": domain,
        "began": one.began,
        "paged": one.paged,
        "resolved": one.resolved,
        "open": one.open,
        "time_to_detect": _durations(one.detection),
        "time_to_identify": _durations(one.identification),
        "time_to_resolve": _durations(one.resolution),
        "over_unseen": one.over_unseen,
        "confirmed": one.confirmed,
        "confirmable": one.confirmable,
        "undecided": one.undecided,
    }


def _durations(one: Durations) -> ReportDurations:
    return {
        "count": len(one.values),
        "median": None if one.median is None else one.median / 1_000_000,
        "p90": None if one.p90 is None else one.p90 / 1_000_000,
        "unknown": one.unknown,
    }


def _downtime(found: WeeklyReport, viewer: Viewer) -> ReportDowntime:
    known = [one.known for one in found.downtime.values() if one.known is not None]
    seen = {name: one for name, one in found.downtime.items() if viewer.can_see(name)}
    # The longest first; those of which nothing is known at the end.
    order = sorted(seen, key=lambda name: (seen[name].known is None, -(seen[name].known or 0), name))
    return {
        "seconds": sum(known) / 1_000_000 if known else None,
        "watched": len(known),
        "unwatched": len(found.downtime) - len(known),
        "datasets": [
            {
                "dataset": str(name),
                "seconds": None if seen[name].known is None else seen[name].wrong / 1_000_000,
                "watched": seen[name].watched / 1_000_000,
            }
            for name in order[:MOST_NAMED]
        ],
        "hidden": len(found.downtime) - len(seen),
        "more": max(0, len(seen) - MOST_NAMED),
    }


def _budgets(slos: Sequence[EvaluatedSlo], viewer: Viewer) -> ReportBudgets:
    rows = [_budget(one) for one in slos]
    seen = [row for one, row in zip(slos, rows, strict=True) if viewer.can_see(one.declaration.dataset)]
    order = sorted(seen, key=lambda row: (row["remaining"] is None, row["remaining"] or 0, row["slo"], row["id"]))
    shares = [row["suppressed_share"] or 0 for row in rows]
    return {
        "objectives": len(rows),
        "overdrawn": sum(row["remaining"] is not None and row["remaining"] < 0 for row in rows),
        "unknown": sum(row["remaining"] is None for row in rows),
        "suppressed": sum(share > _MUCH_SUPPRESSED for share in shares),
        "lowest": order[:MOST_NAMED],
        "hidden": len(rows) - len(seen),
        "more": max(0, len(seen) - MOST_NAMED),
    }


def _budget(one: EvaluatedSlo) -> BudgetLeft:
    row = slo_row(one, is_whole=False)
    budget = row["budget"]
    return {
        "id": row["id"],
        "slo": f"{row['service']}/{row['name']}",
        "dataset": row["dataset"],
        "state": row["state"],
        "remaining": budget["remaining"] if budget else None,
        "suppressed_share": budget["suppressed_share"] if budget else None,
    }


def _unknown_upstreams(found: WeeklyReport, viewer: Viewer) -> ReportUnknownUpstreams:
    every, new = found.unknown_upstreams, found.new_unknown_upstreams
    seen = [str(name) for name in new or () if viewer.can_see(name)]
    return {
        "total": None if every is None else len(every),
        "new": None if new is None else len(new),
        "names": seen[:MOST_NAMED],
        "hidden": len(new or ()) - len(seen),
        "more": max(0, len(seen) - MOST_NAMED),
    }


def _gate(one: GateOutcomes) -> ReportGate:
    return {
        "commits": _ordered(one.commits),
        "promotions": _ordered(one.promotions),
        "approvals": one.approvals,
        "waivers": one.waivers,
    }


def _ordered(counts: Mapping[VerdictText, int]) -> dict[str, int]:
    return {str(one): counts[one] for one in sorted(counts)}


def _usage(one: Usage, viewer: Viewer) -> ReportUsage:
    sizes = [each.size.bytes for each in one.unused if each.size]
    seen = [each for each in one.unused if viewer.can_see(each.dataset)]
    return {
        "days": one.days,
        "judged": one.judged,
        "too_new": one.too_new,
        "unused": len(one.unused),
        "bytes": sum(sizes) if sizes else None,
        "unsized": len(one.unused) - len(sizes),
        "largest": [_unused(each) for each in seen[:MOST_NAMED]],
        "hidden": len(one.unused) - len(seen),
        "more": max(0, len(seen) - MOST_NAMED),
    }


def _unused(one: UnusedDataset) -> ReportUnusedDataset:
    return {
        "dataset": str(one.dataset),
        "bytes": one.size.bytes if one.size else None,
        "of_last_write": bool(one.size and not one.size.is_whole),
    }
