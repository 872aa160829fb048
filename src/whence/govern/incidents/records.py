"""What is recorded of incidents: acts and transitions, as OpenLineage events and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from whence.govern.assertions import assert_facets
from whence.govern.gate.records import person_of
from whence.govern.incidents.incident import Act, Recorded
from whence.model.catalog import RegisteredFacet, RegisteredFilter, RegistryKind, namespace_of_registered
from whence.model.names import DatasetName, parse_node
from whence.model.records.incidents import (
    INCIDENT_ACT,
    INCIDENT_TRANSITION,
    IncidentActRecord,
    IncidentTransitionRecord,
    incident_act_dataset,
    incident_act_id,
    incident_transition_dataset,
    incident_transition_id,
)
from whence.openlineage.write import PRODUCER, own_facet
from whence.query.ports.catalog import Catalog
from whence.query.visibility.incident_records import read_incident_record

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTransition:
    """A recorded change of the state of an incident at a time (µs)."""

    id: str
    time: int
    record: IncidentTransitionRecord


def act_event(record: IncidentActRecord, namespace: str, at: int, producer: str) -> Json:
    """The event by which a person acts on an incident at a time (µs). `namespace`: of its root."""
    facets = {INCIDENT_ACT: own_facet("IncidentActDatasetFacet", **_members(record))}
    return assert_facets(incident_act_dataset(namespace, record, at, producer), at, producer, facets)


def transition_event(record: IncidentTransitionRecord, namespace: str, at: int) -> Json:
    """The event that records a transition at a time (µs). The same transition is the same event, byte for byte."""
    facets = {INCIDENT_TRANSITION: own_facet("IncidentTransitionDatasetFacet", **_members(record))}
    return assert_facets(incident_transition_dataset(namespace, record), at, PRODUCER, facets)


def list_acts(catalog: Catalog, incident: str = "", until: int | None = None) -> Sequence[Act]:
    """The acts until a time (µs), in order; about one incident, by its id, unless that is empty."""
    wanted = RegisteredFilter(RegistryKind.INCIDENT_ACT, INCIDENT_ACT, begins=f"{incident}/" if incident else "")
    read = (_act(one) for one in catalog.registered_facets(wanted) if until is None or one.time <= until)
    return sorted((one for one in read if one), key=lambda one: one.order)


def list_incident_transitions(
    catalog: Catalog, incident: str = "", until: int | None = None
) -> Sequence[IncidentTransition]:
    """The transitions until a time (µs), each incident's in order; of one, by its id, unless that is empty."""
    begins = f"{incident}/" if incident else ""
    wanted = RegisteredFilter(RegistryKind.INCIDENT_TRANSITION, INCIDENT_TRANSITION, begins=begins)
    read = (_transition(one) for one in catalog.registered_facets(wanted) if until is None or one.time <= until)
    return sorted((one for one in read if one), key=lambda one: (one.time, one.id))


def last_transitions(transitions: Iterable[IncidentTransition]) -> Mapping[str, IncidentTransition]:
    """The state of each incident, by id: the fold of transitions in order."""
    return {one.record.incident: one for one in transitions}


def recorded_incidents(transitions: Sequence[IncidentTransition]) -> Mapping[str, Recorded]:
    """What `fold_incidents` needs of the transitions, by incident."""
    first: dict[str, int] = {}
    for one in transitions:
        first.setdefault(one.record.incident, one.time)
    last = last_transitions(transitions)
    return {id_: Recorded(time, last[id_].record.after == "merged") for id_, time in first.items()}


def _members(record: IncidentActRecord | IncidentTransitionRecord) -> Json:
    return {key: value for key, value in msgspec.to_builtins(record).items() if value not in (None, "")}


def _act(one: RegisteredFacet) -> Act | None:
    record = read_incident_record(one.payload, IncidentActRecord)
    namespace = namespace_of_registered(one.name)
    if record is None or not _is_in(record.dataset, namespace):
        return None
    id_ = incident_act_id(record, one.time, one.producer)
    return Act(id=id_, time=one.time, namespace=namespace, person=person_of(one.producer), record=record)


def _transition(one: RegisteredFacet) -> IncidentTransition | None:
    record = read_incident_record(one.payload, IncidentTransitionRecord)
    if record is None or not _is_in(record.dataset, namespace_of_registered(one.name)):
        return None
    return IncidentTransition(id=incident_transition_id(record), time=one.time, record=record)


def _is_in(dataset: str, namespace: str) -> bool:
    """Whether a record is of the namespace in which it was sent: who may write there may not change others."""
    name = parse_node(dataset)
    return isinstance(name, DatasetName) and name.namespace == namespace
