"""What Whence records of incidents, as OpenLineage facets of registry datasets: what people do about them, and what
changed. Each act and each transition has a dataset of its own, so that none replaces another.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName
from whence.model.slo_records import NotifyText

INCIDENT_ACT, INCIDENT_TRANSITION = "whence_incidentAct", "whence_incidentTransition"
"""The facets' keys."""

IncidentStateText = Literal["open", "acknowledged", "mitigated", "resolved", "merged"]
ActText = Literal["acknowledge", "assign", "mitigate", "resolve", "reopen", "silence", "confirm", "comment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentActRecord:
    """What a person did about an incident, at the time of its event. `dataset`: the root, a node id.

    `until` (µs): how long it is silenced; `cause`: the node id of the confirmed cause; `text`: their words.
    """

    incident: str
    dataset: str
    act: ActText
    text: str = ""
    assignee: str = ""
    until: int | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTransitionRecord:
    """A change of an incident's state at the time of its event. `dataset`: the root, a node id; `finding`: the id of
    the finding that opened it.

    `before`: empty if it is new; `notify`: how urgent its most urgent open finding is, None if nobody needs to know;
    `since` (µs): of its first finding; `by`: the person whose act it is; `into`: the incident that a merged one is now
    part of; `previous`: the id of its transition before this one, empty for the first.
    """

    incident: str
    dataset: str
    finding: str
    before: IncidentStateText | Literal[""] = ""
    after: IncidentStateText
    notify_before: NotifyText | None = None
    notify: NotifyText | None = None
    since: int
    reason: str = ""
    by: str = ""
    into: str = ""
    previous: str = ""


def incident_id(dataset: str, finding: str) -> str:
    """The id of the incident that a finding of a dataset (its node id) opens."""
    return _digest(dataset, finding)


def incident_act_id(record: IncidentActRecord, at: int, producer: str) -> str:
    """The id of an act at a time (µs)."""
    changed = (record.act, record.text, record.assignee, str(record.until or ""), record.cause)
    return _digest(record.incident, str(at), producer, *changed)


def incident_transition_id(record: IncidentTransitionRecord) -> str:
    """The id of a transition. Whoever finds the same change after the same transition gives it the same id."""
    return _digest(record.incident, record.previous, record.after, record.notify or "", record.into)


def incident_act_dataset(namespace: str, record: IncidentActRecord, at: int, producer: str) -> DatasetName:
    """The registry dataset of an act. `namespace`: of the incident's root."""
    name = f"{record.incident}/{incident_act_id(record, at, producer)}/{namespace}"
    return RegistryKind.INCIDENT_ACT.dataset_of(name)


def incident_transition_dataset(namespace: str, record: IncidentTransitionRecord) -> DatasetName:
    """The registry dataset of a transition. `namespace`: of the incident's root."""
    name = f"{record.incident}/{incident_transition_id(record)}/{namespace}"
    return RegistryKind.INCIDENT_TRANSITION.dataset_of(name)


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
