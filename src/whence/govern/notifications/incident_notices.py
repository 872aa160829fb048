"""Notices of the incidents in a store: one for each transition that somebody has to know of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from whence.govern.incidents.findings import FindingKind
from whence.govern.incidents.incident import Incident
from whence.govern.incidents.records import IncidentTransition
from whence.govern.notifications.notice import Detail, Link, Notice, Severity, State, Symptom
from whence.govern.notifications.outbox import Notices
from whence.model.names import DatasetName, parse_node
from whence.model.traits import DOMAIN, NO_TRAITS, RUNBOOK, Traits
from whence.query.answers.instants import iso

_FAILED_RUN = "failed run"
"""The rule of a failed run. Its job may be one that a receiver may not see."""
_RULES = {
    FindingKind.SLO: "objective {rule} is violated",
    FindingKind.RUN: "a job that writes it fails",
    FindingKind.CHECK: "check {rule} fails",
    FindingKind.CONTRACT: "contract rule {rule} is violated",
    FindingKind.POLICY: "policy {rule} is violated",
    FindingKind.CERTIFICATION: "it is no longer certified",
    FindingKind.LINEAGE: "its lineage differs from the accepted one",
    FindingKind.CAPTURE: "its source reports nothing",
}
_PLAIN_RULES = {
    FindingKind.CHECK: "a check fails",
    FindingKind.CONTRACT: "a rule of its contract is violated",
}
"""The same without names that may name what a receiver may not see."""
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """Which incidents took the place of others. `origins`: for each, the first one, as receivers know it."""

    origins: Mapping[str, str]
    continued: frozenset[str]
    """Merged incidents whose name another one has at receivers."""


def find_merges(transitions: Sequence[IncidentTransition]) -> Merges:
    """The merges among transitions, in order of time. Of several that were merged, the first one goes on."""
    first, into = dict[str, tuple[int, str]](), dict[str, str]()
    for one in transitions:
        first.setdefault(one.record.incident, (one.time, one.record.incident))
        if one.record.after == "merged":
            into[one.record.incident] = one.record.into
    parts: dict[str, list[str]] = {}
    for merged, place in into.items():
        parts.setdefault(place, []).append(merged)
    chosen = {place: min(some, key=lambda id_: first[id_]) for place, some in parts.items()}
    origins = {place: _origin(place, chosen) for place in chosen}
    return Merges(origins=origins, continued=frozenset(chosen.values()))


def _origin(incident: str, chosen: Mapping[str, str]) -> str:
    seen = {incident}
    while (before := chosen.get(incident)) and before not in seen:
        seen.add(before)
        incident = before
    return incident


def notices_of(
    incident: Incident | None, transitions: Sequence[IncidentTransition], merges: Merges, traits: Traits, now: int
) -> Notices | None:
    """The notices of one incident at a time (µs); None if nobody has to know of it.

    `incident`: None if it is part of another one by now, or explained away; `transitions`: its own, in order.
    """
    found = [*_notices(incident, transitions, merges, traits)]
    if not found:
        return None
    last = found[-1]
    return Notices(notices=tuple(found), current=replace(last, symptoms=_symptoms(incident, last, now)))


def _notices(
    incident: Incident | None, transitions: Sequence[IncidentTransition], merges: Merges, traits: Traits
) -> Iterator[Notice]:
    severity: Severity | None = None
    for one in transitions:
        state = State(one.record.after)
        severity = Severity(one.record.notify) if one.record.notify else severity
        if severity is None or (not state.is_over and _is_silenced(incident, one.time)):
            continue
        notice = _notice(one, incident, severity, state, traits)
        yield replace(
            notice,
            symptoms=_symptoms(incident, notice, one.time),
            origin=merges.origins.get(one.record.incident, ""),
            goes_on=state is State.MERGED and one.record.incident in merges.continued,
        )


def _notice(
    one: IncidentTransition, incident: Incident | None, severity: Severity, state: State, traits: Traits
) -> Notice:
    record, root = one.record, _root_of(one)
    return Notice(
        incident=record.incident,
        transition=one.id,
        state=state,
        severity=severity,
        title=_title(root, incident, one.time, _RULES),
        plain_title=_title(root, incident, one.time, _RULES | _PLAIN_RULES),
        root=root,
        at=one.time,
        since=record.since,
        owners=tuple(sorted(traits.owners)),
        tier=traits.tier,
        domain=traits.value_of(DOMAIN),
        resolved_at=one.time if state.is_over else None,
        details=tuple(_details(one, incident)),
        links=_links(record.incident, root, record.since),
        runbook=traits.value_of(RUNBOOK),
        silence=f"whence incident silence {record.incident} --for 2h",
    )


def _root_of(one: IncidentTransition) -> DatasetName:
    root = parse_node(one.record.dataset)
    assert isinstance(root, DatasetName)  # as `list_incident_transitions` checks
    return root


def _links(incident: str, root: DatasetName, since: int) -> tuple[Link, ...]:
    """The page of the incident, the lineage of the root when it began, and what changed upstream from a day before."""
    begin, before = iso(since), iso(since - _DAY)
    return (
        Link(title="Incident", path=f"/ui/incident?{urlencode({'incident': incident})}", nodes=(root,)),
        _link("Lineage when it began", "lineage", root, as_of=begin, lens="health"),
        _link("What changed", "changes", root, since=before),
    )


def _link(title: str, page: str, root: DatasetName, **options: str) -> Link:
    return Link(title=title, path=f"/ui/{page}?{urlencode({'node': str(root), **options})}", nodes=(root,))


def _title(root: DatasetName, incident: Incident | None, at: int, rules: Mapping[FindingKind, str]) -> str:
    if incident is None:
        return f"{root.name}: an incident that is part of another one"
    opener = incident.opened_by
    what = rules[opener.kind].format(rule=opener.rule)
    others = len({one.dataset for one in incident.findings if one.since <= at} - {opener.dataset})
    more = f", {others} dataset{'s' * (others != 1)} downstream" if others else ""
    return f"{opener.dataset.name}: {what}{more}"


def _details(one: IncidentTransition, incident: Incident | None) -> Iterator[Detail]:
    if one.record.reason:
        yield Detail(label="Why", text=one.record.reason)
    if one.record.by:
        yield Detail(label="By", text=one.record.by)
    if one.record.into:
        yield Detail(label="Now part of", text=f"incident {one.record.into}")
    if incident and incident.cause:
        yield Detail(label="Confirmed cause", text=incident.cause)
    if incident and incident.opened_by.run:
        yield Detail(label="Run", text=str(incident.opened_by.run), nodes=incident.roots)
    if incident and incident.assignee:
        yield Detail(label="Assigned to", text=incident.assignee)


def _symptoms(incident: Incident | None, notice: Notice, at: int) -> tuple[Symptom, ...]:
    """The findings until a time (µs), each with its end, if it was over by then."""
    if incident is None:
        return ()
    end = at if notice.state.is_over else None
    return tuple(
        Symptom(
            node=one.dataset,
            rule=_FAILED_RUN if one.kind is FindingKind.RUN else one.rule,
            text=one.reason,
            plain=_PLAIN_RULES.get(one.kind, ""),
            since=one.since,
            until=one.until if one.until is not None and one.until <= at else end,
        )
        for one in incident.findings
        if one.since <= at
    )


def _is_silenced(incident: Incident | None, at: int) -> bool:
    silences = (one for one in incident.acts if one.record.act == "silence") if incident else ()
    return any(one.time <= at < (one.record.until or 0) for one in silences)


def list_notices(
    incidents: Sequence[Incident],
    transitions: Sequence[IncidentTransition],
    traits: Mapping[DatasetName, Traits],
    now: int,
) -> Sequence[Notices]:
    """The notices of all incidents that were recorded, the oldest incident first."""
    merges, by_incident = find_merges(transitions), dict[str, list[IncidentTransition]]()
    for one in transitions:
        by_incident.setdefault(one.record.incident, []).append(one)
    known = {one.id: one for one in incidents}
    found = (
        notices_of(known.get(id_), some, merges, traits.get(_root_of(some[0]), NO_TRAITS), now)
        for id_, some in by_incident.items()
    )
    return [one for one in found if one]
