"""Which transitions of incidents are to be recorded: a pure function of incidents, recorded transitions and a time.

Each transition follows from the one before it. So whoever finds it gives it the same id, and nobody records it twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.incidents.incident import Change, Incident
from whence.govern.incidents.records import IncidentTransition
from whence.model.records.incidents import IncidentTransitionRecord, incident_transition_id

DAY = 86_400_000_000
LATE = "events arrived late"
"""The reason of a transition that only corrects the one before it."""
TAKES_PLACE = "takes the place of"
"""How the reason of a transition begins that opens an incident into which others were merged."""
MERGED = "its root is explained by a dataset further upstream, or by an earlier finding"
GONE = "events that arrived late explain its findings away"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What all transitions of one incident have in common."""

    incident: str
    dataset: str
    finding: str
    since: int


def find_new_transitions(
    incidents: Sequence[Incident], last: Mapping[str, IncidentTransition], now: int, *, are_all: bool = True
) -> Iterator[IncidentTransition]:
    """The transitions after the last one of each incident, until a time (µs); of each incident in order.

    Incidents that were over a day ago, and never recorded, stay so. `are_all`: whether all findings were read; if not,
    an incident without findings stays as it is.
    """
    merged: dict[str, Incident] = {}
    for one in incidents:
        merged |= {id_: one for id_ in one.ids if id_ != one.id}
        yield from _of_incident(one, last.get(one.id), now)
    current = {one.id for one in incidents}
    for id_, before in sorted(last.items()):
        if id_ not in current and (change := _ending(before, merged.get(id_), are_all=are_all)):
            yield change


def _of_incident(one: Incident, last: IncidentTransition | None, now: int) -> Iterator[IncidentTransition]:
    if last is None and one.state == "resolved" and one.changes[-1].time <= now - DAY:
        return
    subject = _Subject(incident=one.id, dataset=str(one.root), finding=one.opened_by.id, since=one.opened_by.since)
    for change in _new_changes(one, last):
        last = _transition(subject, last, change)
        yield last


def _new_changes(one: Incident, last: IncidentTransition | None) -> Iterator[Change]:
    """The changes after the last transition; if late events or acts changed the state at its time, that first."""
    if last is None:
        first, *rest = one.changes
        names = ", ".join(one.merged)
        reason = f"{TAKES_PLACE} {names}: {first.reason}" if names else first.reason
        yield Change(time=first.time, state=first.state, notify=first.notify, reason=reason, by=first.by)
        yield from rest
        return
    before = [change for change in one.changes if change.time <= last.time]
    if before and before[-1].kind != (last.record.after, last.record.notify):
        at = before[-1]
        reason = at.reason if at.by else f"{LATE}: {at.reason}" if at.reason else LATE
        yield Change(time=last.time + 1, state=at.state, notify=at.notify, reason=reason, by=at.by)
    yield from one.changes[len(before) :]


def _ending(last: IncidentTransition, into: Incident | None, *, are_all: bool) -> IncidentTransition | None:
    """The end of a recorded incident that is none any more; None if that is recorded, or not certain."""
    record = last.record
    subject = _Subject(incident=record.incident, dataset=record.dataset, finding=record.finding, since=record.since)
    if into is not None:
        change = Change(time=max(last.time + 1, into.changes[0].time), state="merged", reason=MERGED)
        return None if record.into == into.id else _transition(subject, last, change, into=into.id)
    if not are_all or record.after in ("resolved", "merged"):
        return None
    return _transition(subject, last, Change(time=last.time + 1, state="resolved", reason=GONE))


def _transition(
    subject: _Subject, last: IncidentTransition | None, change: Change, into: str = ""
) -> IncidentTransition:
    before = last.record if last else None
    record = IncidentTransitionRecord(
        incident=subject.incident,
        dataset=subject.dataset,
        finding=subject.finding,
        before=before.after if before else "",
        after=change.state,
        notify_before=before.notify if before else None,
        notify=change.notify,
        since=subject.since,
        reason=change.reason,
        by=change.by,
        into=into,
        previous=last.id if last else "",
    )
    time = max(change.time, last.time + 1) if last else change.time
    return IncidentTransition(id=incident_transition_id(record), time=time, record=record)
