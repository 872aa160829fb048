"""Records of objectives as one viewer may read them. Whether they may see one is decided by the namespace of its
dataset; its text, and what was observed, may name a column or a job that they may not see.
"""

from dataclasses import replace
from typing import TypeVar

import msgspec

from whence.model.slo_records import SLO, SLO_TRANSITION, DeclarationRecord, TransitionRecord

Record = TypeVar("Record", DeclarationRecord, TransitionRecord)


def read_slo_record(payload: str, record: type[Record]) -> Record | None:
    """A record from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=record)
    except msgspec.DecodeError:
        return None


def shown_slo_record(payload: str, facet: str) -> str:
    """The JSON of a record without texts; empty if it is none."""
    if facet == SLO and (declared := read_slo_record(payload, DeclarationRecord)):
        return msgspec.json.encode(replace(declared, text="")).decode()
    if facet == SLO_TRANSITION and (changed := read_slo_record(payload, TransitionRecord)):
        return msgspec.json.encode(replace(changed, reason="", run=None)).decode()
    return ""
