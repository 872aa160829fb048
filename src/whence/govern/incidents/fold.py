"""The incidents at a time: a pure function of findings, lineage, acts and what was recorded, in any order.

A finding belongs to the incident of the furthest dataset upstream that was wrong at the time. So a root that becomes
known late takes the findings, and most acts, of the incidents that were thought to be roots before.
"""

from collections.abc import Iterable, Mapping, Sequence

from whence.govern.incidents.episodes import Episode, RootGroup, find_episodes, find_root_groups
from whence.govern.incidents.findings import Finding
from whence.govern.incidents.incident import Act, Incident, IncidentRules, Recorded, UpstreamRelation
from whence.govern.incidents.states import find_changes
from whence.model.records.incidents import ActText

_ONLY_OF_ITSELF: frozenset[ActText] = frozenset({"mitigate", "resolve", "reopen"})
"""Acts that an incident does not inherit from one that is merged into it: they were about less."""


def fold_incidents(
    findings: Iterable[Finding],
    relation: UpstreamRelation,
    acts: Iterable[Act] = (),
    recorded: Mapping[str, Recorded] | None = None,
    rules: IncidentRules | None = None,
) -> Sequence[Incident]:
    """The incidents, by beginning. `recorded`: the incidents that were recorded: one keeps its id while its root is the
    same, also if a finding from before the first one arrives late.
    """
    used = rules or IncidentRules()
    episodes = find_episodes(findings, relation.representatives, used.grace)
    by_incident: dict[str, list[Act]] = {}
    for act in acts:
        by_incident.setdefault(act.record.incident, []).append(act)
    groups = find_root_groups(episodes, relation, used)
    found = [_incident(one, episodes, relation, by_incident, recorded or {}) for one in groups]
    return sorted(found, key=lambda one: (one.since, one.id))


def find_incident(incidents: Iterable[Incident], id_: str) -> Incident | None:
    """The incident with an id, or the one into which the incident with this id was merged."""
    several = [one for one in incidents if id_ in one.ids]
    return next((one for one in several if one.id == id_), several[0] if several else None)


def _incident(
    group: RootGroup,
    episodes: Sequence[Episode],
    relation: UpstreamRelation,
    acts: Mapping[str, Sequence[Act]],
    recorded: Mapping[str, Recorded],
) -> Incident:
    findings = _findings(episodes, group.explained)
    opener = _opener(_findings(episodes, group.roots), recorded)
    own = sorted(_acts(findings, opener, acts), key=lambda one: one.order)
    roots = {episodes[index].dataset for index in group.roots}
    root = relation.representatives.get(opener.dataset, opener.dataset)
    return Incident(
        id=opener.incident,
        root=opener.dataset,
        opened_by=opener,
        roots=(opener.dataset, *sorted(roots - {root})),
        findings=findings,
        symptoms=tuple(sorted({episodes[index].dataset for index in group.explained} - roots)),
        other_roots=tuple(sorted({episodes[index].dataset for index in group.others} - roots)),
        merged=tuple(sorted({one.incident for one in findings if one.incident in recorded} - {opener.incident})),
        changes=find_changes(findings, own),
        acts=tuple(own),
        assignee=next((one.record.assignee for one in reversed(own) if one.record.act == "assign"), ""),
        silenced_until=next((one.record.until for one in reversed(own) if one.record.act == "silence"), None),
        cause=next((one.record.cause for one in reversed(own) if one.record.act == "confirm"), ""),
        is_complete=roots.isdisjoint(relation.unfinished),
    )


def _findings(episodes: Sequence[Episode], indices: Iterable[int]) -> tuple[Finding, ...]:
    return tuple(sorted((one for index in indices for one in episodes[index].findings), key=lambda one: one.order))


def _opener(findings: Sequence[Finding], recorded: Mapping[str, Recorded]) -> Finding:
    """The finding that opened the incident: by what is recorded, or else the first."""
    known = [one for one in findings if one.incident in recorded and not recorded[one.incident].is_merged]
    return min(known, key=lambda one: (recorded[one.incident].time, one.order), default=findings[0])


def _acts(findings: Iterable[Finding], opener: Finding, acts: Mapping[str, Sequence[Act]]) -> Iterable[Act]:
    """The acts about any of the incidents that these findings would have opened. Who may act on one of a namespace may
    not act on those of another.
    """
    for id_, dataset in {one.incident: one.dataset for one in findings}.items():
        for act in acts.get(id_, ()):
            is_own = id_ == opener.incident or act.record.act not in _ONLY_OF_ITSELF
            if is_own and act.namespace == dataset.namespace:
                yield act
