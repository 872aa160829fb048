"""Possible causes of what is wrong at a node, as JSON and as rows."""

from typing_extensions import TypedDict

from whence.model.symptom import SymptomWord
from whence.query.answers.instants import iso
from whence.query.diagnosis.diagnosis import Deciding, Diagnosis, PossibleCause
from whence.query.diagnosis.evidence import Evidence
from whence.query.rendering import documents
from whence.query.rendering.answers import event_document
from whence.query.rendering.listings import Listing
from whence.query.rendering.timeline import ChangesNotKnown, not_known_document


class CauseEvidence(TypedDict):
    """One fact: `kind` is that of the change, or `anomaly`. `event` proves a change."""

    time: str
    kind: str
    text: str
    event: documents.AssertingEvent | None


class PossibleCauseOfSymptom(TypedDict):
    """A dataset that may be the cause, with its probability if one of them is, and the way to the requested node.

    `measured`: whether the symptom could be seen in it.
    """

    node: str
    probability: float
    distance: int
    measured: bool
    path: list[str]
    evidence: list[CauseEvidence]


class DecidingMeasurement(TypedDict):
    """The missing measurement that would tell most: the cause is at `node` or upstream of it with this probability."""

    node: str
    metrics: list[str]
    probability: float


class UnmeasuredDatasets(TypedDict):
    """How many datasets have no measurement of the symptom, and the nearest of them."""

    total: int
    nodes: list[str]


class RootCauses(TypedDict):
    """The possible causes of what is wrong at a node, the most probable first.

    `seen`: the symptom is in the measurements of the node. Without `has_evidence` nothing changed and nothing is
    unusual: the order comes from the positions alone.
    """

    node: str
    since: str
    until: str
    symptom: SymptomWord
    seen: bool
    has_evidence: bool
    deciding: DecidingMeasurement | None
    unmeasured: UnmeasuredDatasets
    not_known: list[ChangesNotKnown]
    causes: list[PossibleCauseOfSymptom]


def diagnosis_listing(found: Diagnosis) -> Listing:
    """Possible causes by probability."""
    several = found.causes
    return Listing(
        head={
            "node": str(found.node),
            "since": iso(found.since),
            "until": iso(found.until),
            "symptom": found.symptom.value,
            "seen": found.is_seen,
            "has_evidence": found.has_evidence,
            "deciding": None if found.deciding is None else _deciding(found.deciding),
            "unmeasured": {"total": found.unmeasured_total, "nodes": [str(one) for one in found.unmeasured]},
            "not_known": [not_known_document(one) for one in found.not_known],
        },
        get_completeness=lambda: found.completeness,
        name="causes",
        columns=tuple(PossibleCauseOfSymptom.__annotations__),
        keys=[(place, str(one.dataset)) for place, one in enumerate(several)],
        part=lambda start, end: {"causes": [cause_document(one) for one in several[start:end]]},
    )


def cause_document(one: PossibleCause) -> PossibleCauseOfSymptom:
    """A possible cause."""
    return {
        "node": str(one.dataset),
        "probability": one.probability,
        "distance": one.distance,
        "measured": one.is_measured,
        "path": [str(step) for step in one.path],
        "evidence": [_evidence(fact) for fact in one.evidence],
    }


def _evidence(one: Evidence) -> CauseEvidence:
    event = None if one.event is None else event_document(one.event)
    return {"time": iso(one.time), "kind": one.kind, "text": one.text, "event": event}


def _deciding(one: Deciding) -> DecidingMeasurement:
    return {"node": str(one.dataset), "metrics": list(one.metrics), "probability": one.probability}
