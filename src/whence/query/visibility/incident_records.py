"""Records of incidents as one viewer may read them. Whether they may see one is decided by the namespace of its root;
texts and people's names may name what they may not see.
"""

from dataclasses import replace
from typing import TypeVar

import msgspec

from whence.model.records.incidents import (
    INCIDENT_ACT,
    INCIDENT_TRANSITION,
    IncidentActRecord,
    IncidentTransitionRecord,
)

Record = TypeVar("Record", IncidentActRecord, IncidentTransitionRecord)


def read_incident_record(payload: str, record: type[Record]) -> Record | None:
    """A record from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=record)
    except msgspec.DecodeError:
        return None


def shown_incident_record(payload: str, facet: str) -> str:
    """The JSON of a record without texts and people; empty if it is none."""
    if facet == INCIDENT_ACT and (act := read_incident_record(payload, IncidentActRecord)):
        return msgspec.json.encode(replace(act, text="", assignee="", cause="")).decode()
    if facet == INCIDENT_TRANSITION and (changed := read_incident_record(payload, IncidentTransitionRecord)):
        return msgspec.json.encode(replace(changed, reason="", by="")).decode()
    return ""
