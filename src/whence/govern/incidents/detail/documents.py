"""The details of an incident as JSON, for the API and the command line alike."""

from typing_extensions import TypedDict

from whence.govern.incidents.current import ReadIncidents
from whence.govern.incidents.detail.gathering import IncidentDetail, LastGood
from whence.govern.incidents.detail.impact import Downstream
from whence.govern.incidents.detail.mitigation import RollbackRun, SuggestedPause
from whence.govern.incidents.documents import (
    IncidentAct,
    IncidentChange,
    IncidentFinding,
    IncidentRow,
    act_document,
    change_document,
    finding_document,
    incident_row,
    iso_or_none,
)
from whence.model.access import Viewer
from whence.model.records.incidents import ActText
from whence.model.traits import Traits
from whence.query.answers.instants import iso
from whence.query.rendering import report_documents
from whence.query.rendering.diagnosis import PossibleCauseOfSymptom, cause_document
from whence.query.rendering.reports import commit_document


class IncidentUpstream(TypedDict):
    """A dataset that the root is made of. `wrong`: it has an open finding of this incident."""

    dataset: str
    last_written: str | None
    wrong: bool


class IncidentViolation(TypedDict):
    """A rule of a contract that began to be violated. `until`: when that ended; null while it is."""

    dataset: str
    rule: str
    column: str | None
    since: str
    until: str | None


class IncidentLastGood(TypedDict):
    """The last completed run that wrote the root before the incident. `commit`: null if it is not known."""

    run: str
    job: str
    time: str
    commit: report_documents.Commit | None


class IncidentRollback(TypedDict):
    """The newest run before the incident that can be trusted. `commit`, `version`: null if they were not reported.
    `checked`: whether the caller may read the results of checks; `hidden`: inputs of it that they may not see.
    """

    run: str
    job: str
    time: str
    commit: report_documents.Commit | None
    version: str | None
    checked: bool
    hidden: int


class IncidentSchedule(TypedDict):
    """A schedule to pause: a DAG of Airflow. `running`: a run goes on, which pausing does not stop."""

    system: str
    namespace: str
    id: str
    distance: int
    running: bool


class IncidentPause(TypedDict):
    """What to pause so that the broken `node` goes no further: the nearest of `total` schedules.

    `unscheduled`: dependent jobs of which no schedule is known; `uncertain`: jobs that do not report which columns they
    read; `hidden`: jobs that the caller may not see. `complete`: false if not all of them were found.
    """

    node: str
    schedules: list[IncidentSchedule]
    total: int
    unscheduled: int
    uncertain: int
    hidden: int
    complete: bool


class AffectedNode(TypedDict):
    """A downstream dataset or job."""

    node: str
    owners: list[str]


class IncidentImpact(TypedDict):
    """The downstream nodes of a kind, and the nearest of them."""

    kind: str
    total: int
    nearest: list[AffectedNode]


class IncidentBudget(TypedDict):
    """An objective of a dataset with findings. `remaining`: the share of its error budget, negative if overdrawn; null
    if nothing may be bad.
    """

    id: str
    slo: str
    dataset: str
    remaining: float | None


class IncidentDocument(TypedDict):
    """An incident at a time with the findings of visible datasets, its states, and what people did, all in order; and
    what is known around its root, as far as the caller may see it.

    `violations_complete`: false if there may be other violations; `impact_complete`: false if not all downstream nodes
    were counted. `rollback`, `pause`: null unless data is wrong now, and if the answer is about the past.
    `possible_acts`: what the caller may do about it now; none if the answer is about the past.
    """

    at: str
    incident: IncidentRow
    severity: str
    runbook: str | None
    findings: list[IncidentFinding]
    changes: list[IncidentChange]
    acts: list[IncidentAct]
    causes: list[PossibleCauseOfSymptom]
    upstream: list[IncidentUpstream]
    contract_violations: list[IncidentViolation]
    violations_complete: bool
    last_good: IncidentLastGood | None
    rollback: IncidentRollback | None
    pause: IncidentPause | None
    impact: list[IncidentImpact]
    impact_complete: bool
    budgets: list[IncidentBudget]
    possible_acts: list[ActText]


def detail_document(read: ReadIncidents, found: IncidentDetail, traits: Traits, viewer: Viewer) -> IncidentDocument:
    """An incident with its details, as gathered for the same viewer. `traits`: of its root."""
    one = found.incident
    return {
        "at": iso(read.at),
        "incident": incident_row(one, read.at, traits, viewer),
        "severity": found.severity,
        "runbook": found.runbook or None,
        "findings": [finding_document(each, viewer) for each in one.findings if viewer.can_see(each.dataset)],
        "changes": [change_document(each, viewer) for each in one.changes],
        "acts": [act_document(each, viewer) for each in one.acts],
        "causes": [cause_document(each) for each in found.candidates],
        "upstream": [
            {"dataset": str(each.dataset), "last_written": iso_or_none(each.last_written), "wrong": each.is_wrong}
            for each in found.upstream
        ],
        "contract_violations": [
            {
                "dataset": str(each.dataset),
                "rule": each.rule,
                "column": each.column or None,
                "since": iso(each.since),
                "until": iso_or_none(each.until),
            }
            for each in found.contract_violations
        ],
        "violations_complete": found.violations_complete,
        "last_good": None if found.last_good is None else _last_good(found.last_good),
        "rollback": None if found.rollback is None else _rollback(found.rollback),
        "pause": None if found.pause is None else _pause(found.pause),
        "impact": [_impact(each) for each in found.impact],
        "impact_complete": found.impact_complete,
        "budgets": [
            {"id": each.id, "slo": each.slo, "dataset": str(each.dataset), "remaining": each.remaining}
            for each in found.budgets
        ],
        "possible_acts": list(found.possible_acts),
    }


def _last_good(one: LastGood) -> IncidentLastGood:
    commit = None if one.commit is None else commit_document(one.commit)
    return {"run": str(one.run), "job": str(one.run.job), "time": iso(one.time), "commit": commit}


def _rollback(one: RollbackRun) -> IncidentRollback:
    return {
        "run": str(one.run),
        "job": str(one.run.job),
        "time": iso(one.time),
        "commit": None if one.commit is None else commit_document(one.commit),
        "version": one.version or None,
        "checked": one.checked,
        "hidden": one.hidden,
    }


def _pause(one: SuggestedPause) -> IncidentPause:
    schedules: list[IncidentSchedule] = [
        {
            "system": each.schedule.system,
            "namespace": each.schedule.namespace,
            "id": each.schedule.id,
            "distance": each.distance,
            "running": each.running,
        }
        for each in one.schedules
    ]
    return {
        "node": str(one.node),
        "schedules": schedules,
        "total": one.total,
        "unscheduled": one.unscheduled,
        "uncertain": one.uncertain,
        "hidden": one.hidden,
        "complete": one.complete,
    }


def _impact(one: Downstream) -> IncidentImpact:
    nearest: list[AffectedNode] = [{"node": str(each.name), "owners": list(each.owners)} for each in one.nearest]
    return {"kind": one.kind, "total": one.total, "nearest": nearest}
