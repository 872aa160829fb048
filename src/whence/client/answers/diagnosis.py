"""Possible causes in answers: values."""

from typing import ClassVar

import msgspec

from whence.client.answers.answer import Answer
from whence.client.values.graph import AssertingEvent, Completeness
from whence.client.values.timeline import ChangesNotKnown


class CauseEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One fact: `kind` is that of the change, or `anomaly`. `event` proves a change."""

    time: str
    kind: str
    text: str
    event: AssertingEvent | None


class PossibleCause(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset that may be the cause, with its probability if one of them is, and the way to the requested node.

    `measured`: whether the symptom could be seen in it.
    """

    node: str
    probability: float
    distance: int
    measured: bool
    path: tuple[str, ...]
    evidence: tuple[CauseEvidence, ...]


class DecidingMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """The missing measurement that would tell most: the cause is at `node` or upstream of it with this probability."""

    node: str
    metrics: tuple[str, ...]
    probability: float


class UnmeasuredDatasets(msgspec.Struct, frozen=True, kw_only=True):
    """How many datasets have no measurement of the symptom, and the nearest of them."""

    total: int
    nodes: tuple[str, ...]


class RootCauses(Answer, frozen=True, kw_only=True):
    """The possible causes of what is wrong at a node, the most probable first.

    `seen`: the symptom is in the measurements of the node. Without `has_evidence` nothing changed and nothing is
    unusual: the order comes from the positions alone.
    """

    _rows: ClassVar[str] = "causes"
    _columns: ClassVar[tuple[str, ...]] = ("node", "probability", "distance", "measured", "path", "evidence")

    node: str
    since: str
    until: str
    symptom: str
    seen: bool
    has_evidence: bool
    deciding: DecidingMeasurement | None
    unmeasured: UnmeasuredDatasets
    not_known: tuple[ChangesNotKnown, ...]
    completeness: Completeness
    causes: tuple[PossibleCause, ...]

    def _title(self) -> str:
        return f"{len(self.causes):,} possible causes of {self.symptom} at {self.node}"
