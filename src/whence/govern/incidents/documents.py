"""Incidents as JSON, for the API and the command line alike, as one viewer may read them.

Names that the viewer may not see are counted. Texts may name anything, so they are for viewers who may see everything.
"""

from collections.abc import Iterable, Mapping

from typing_extensions import TypedDict

from whence.govern.incidents.current import ReadIncidents
from whence.govern.incidents.findings import Finding, FindingKind
from whence.govern.incidents.incident import Act, Change, Incident
from whence.govern.incidents.sources import tier_of
from whence.model.access import Viewer
from whence.model.names import DatasetName, parse_node
from whence.model.traits import NO_TRAITS, Traits
from whence.query.answers.instants import iso

PLATFORM = "platform"
"""To whom incidents go whose root has no owner."""


class IncidentRow(TypedDict):
    """An incident. `root`: null if the caller may not see it; `hidden_datasets`: the number of datasets with findings
    that they may not see; `assignee`: null if they may not see everything, unless it is the caller.

    `complete`: false if its root may be further upstream. `silenced_until`: null if it is not silenced, or no more.
    """

    id: str
    title: str
    state: str
    notify: str | None
    notify_rule: str | None
    root: str | None
    roots: list[str]
    symptoms: list[str]
    other_roots: list[str]
    hidden_datasets: int
    since: str
    until: str | None
    findings: int
    tier: int | None
    owners: list[str]
    routed_to: str | None
    assignee: str | None
    silenced_until: str | None
    cause: str | None
    merged: list[str]
    complete: bool


class IncidentList(TypedDict):
    """Incidents with a visible dataset, and the number of all others. `complete`: whether all findings were read."""

    at: str
    incidents: list[IncidentRow]
    hidden: int
    complete: bool


class IncidentFinding(TypedDict):
    """What is wrong with a dataset, or with one column. `column`, `rule`, `reason`: null if there is none, or if they
    may name what the caller may not see.
    """

    id: str
    kind: str
    dataset: str
    column: str | None
    rule: str | None
    since: str
    until: str | None
    notify: str | None
    reason: str | None
    run: str | None


class IncidentChange(TypedDict):
    """A state of the incident from a time on. `by`: the person whose act it is."""

    time: str
    state: str
    notify: str | None
    reason: str | None
    by: str | None


class IncidentAct(TypedDict):
    """What a person did. `person`: null if it is not verified who it was."""

    id: str
    time: str
    act: str
    person: str | None
    text: str | None
    assignee: str | None
    until: str | None
    cause: str | None


def list_document(
    read: ReadIncidents, shown: Iterable[Incident], hidden: int, traits: Mapping[DatasetName, Traits], viewer: Viewer
) -> IncidentList:
    """Some of the incidents that were read."""
    rows = [incident_row(one, read.at, traits.get(one.root, NO_TRAITS), viewer) for one in shown]
    return {"at": iso(read.at), "incidents": rows, "hidden": hidden, "complete": read.are_all}


def is_visible(one: Incident, viewer: Viewer) -> bool:
    """Whether a viewer may see one of the datasets with findings."""
    return any(viewer.can_see(each.dataset) for each in one.findings)


def incident_row(one: Incident, at: int, traits: Traits, viewer: Viewer) -> IncidentRow:
    """An incident at a time (µs). `traits`: of its root."""
    is_whole, sees_root = viewer.can_see_all, viewer.can_see(one.root)
    named = {*one.roots, *one.symptoms, *one.other_roots}
    owners = sorted(traits.owners) if sees_root else []
    silenced = one.silenced_until if one.silenced_until and one.silenced_until > at else None
    return {
        "id": one.id,
        "title": title_of(one, viewer),
        "state": one.state,
        "notify": one.notify,
        "notify_rule": notify_rule_of(one),
        "root": str(one.root) if sees_root else None,
        "roots": visible_names(one.roots, viewer),
        "symptoms": visible_names(one.symptoms, viewer),
        "other_roots": visible_names(one.other_roots, viewer),
        "hidden_datasets": sum(not viewer.can_see(name) for name in named),
        "since": iso(one.since),
        "until": iso_or_none(one.until),
        "findings": len(one.findings),
        "tier": tier_of(traits) if sees_root else None,
        "owners": owners,
        "routed_to": (owners[0] if owners else PLATFORM) if sees_root else None,
        "assignee": one.assignee or None if is_whole or one.assignee == viewer.name else None,
        "silenced_until": iso_or_none(silenced),
        "cause": one.cause if one.cause and _sees(one.cause, viewer) else None,
        "merged": list(one.merged),
        "complete": one.is_complete,
    }


def title_of(one: Incident, viewer: Viewer) -> str:
    """What is wrong, in plain words: what opened the incident, else what goes on, as far as the viewer may see it."""
    opener = _leading_finding(one)
    if not viewer.can_see(opener.dataset):
        opener = next((each for each in one.findings if viewer.can_see(each.dataset)), opener)
        if not viewer.can_see(opener.dataset):
            return "a dataset that you may not see"
    others = len({each.dataset for each in one.findings} - {opener.dataset})
    more = f", and {others} more dataset{'s' if others > 1 else ''}" if others else ""
    return f"{opener.dataset.name}: {_what(opener, viewer)}{more}"


def _leading_finding(one: Incident) -> Finding:
    """The finding that opened the incident; if that ended and others go on, the first of those: at the root, if any."""
    going_on = [each for each in one.findings if each.until is None]
    if one.opened_by in going_on or not going_on:
        return one.opened_by
    return min(going_on, key=lambda each: (each.dataset != one.root, each.since))


def _what(one: Finding, viewer: Viewer) -> str:
    rule = _rule(one, viewer)
    match one.kind:
        case FindingKind.SLO:
            return f"objective {rule} is violated"
        case FindingKind.RUN:
            job = parse_node(rule) if rule else None
            return f"job {job.name} fails" if job is not None and hasattr(job, "name") else "a job that writes it fails"
        case FindingKind.CHECK:
            return f"check {rule} fails" if rule else "a check fails"
        case FindingKind.CONTRACT:
            return f"contract rule {rule} is violated" if rule else "its contract is violated"
        case FindingKind.POLICY:
            return f"policy {rule} is violated"
        case FindingKind.CERTIFICATION:
            return "it is no longer certified"
        case FindingKind.LINEAGE:
            return "its lineage differs from the accepted one"
        case FindingKind.CAPTURE:
            return "its source reports nothing"


def notify_rule_of(one: Incident) -> str | None:
    """Why it is as urgent as it is: the rule of its most urgent finding."""
    most = max(one.findings, key=lambda each: (each.until is None, each.notify == "page", each.notify is not None))
    return most.notify_rule or None


def finding_document(one: Finding, viewer: Viewer) -> IncidentFinding:
    """A finding of a visible dataset."""
    is_whole = viewer.can_see_all
    return {
        "id": one.id,
        "kind": str(one.kind),
        "dataset": str(one.dataset),
        "column": one.column or None if is_whole else None,
        "rule": _rule(one, viewer),
        "since": iso(one.since),
        "until": iso_or_none(one.until),
        "notify": one.notify,
        "reason": one.reason or None if is_whole else None,
        "run": one.run if is_whole else None,
    }


def change_document(one: Change, viewer: Viewer) -> IncidentChange:
    """A state."""
    return {
        "time": iso(one.time),
        "state": one.state,
        "notify": one.notify,
        "reason": one.reason or None if viewer.can_see_all else None,
        "by": one.by or None,
    }


def act_document(one: Act, viewer: Viewer) -> IncidentAct:
    """An act."""
    record, is_whole = one.record, viewer.can_see_all
    return {
        "id": one.id,
        "time": iso(one.time),
        "act": record.act,
        "person": one.person or None,
        "text": record.text or None if is_whole else None,
        "assignee": record.assignee or None if is_whole else None,
        "until": iso_or_none(record.until),
        "cause": record.cause if record.cause and _sees(record.cause, viewer) else None,
    }


def _rule(one: Finding, viewer: Viewer) -> str | None:
    """What found it, if its text is the name of something that the viewer may see."""
    match one.kind:
        case FindingKind.RUN:
            return one.rule if _sees(one.rule, viewer) else None
        case FindingKind.CHECK | FindingKind.CONTRACT:
            return one.rule if viewer.can_see_all else None
    return one.rule


def _sees(text: str, viewer: Viewer) -> bool:
    node = parse_node(text)
    return viewer.can_see_all or (node is not None and viewer.can_see(node))


def visible_names(names: Iterable[DatasetName], viewer: Viewer) -> list[str]:
    """Those that the viewer may see."""
    return [str(name) for name in names if viewer.can_see(name)]


def iso_or_none(time: int | None) -> str | None:
    """A time, if there is one."""
    return None if time is None else iso(time)
