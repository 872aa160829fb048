"""Circuit breakers as JSON, as one viewer may read them: the state is the same for all, hidden names are counted."""

from typing_extensions import TypedDict

from whence.govern.breakers.breaker import Breaker, Reason
from whence.govern.incidents.documents import finding_document
from whence.model.access import Viewer
from whence.model.names import FieldName
from whence.query.answers.instants import iso

MOST_UNWATCHED = 20


class BreakerReason(TypedDict):
    """Something wrong with a dataset that the node reads. `column`, `rule`, `reason`, `run`: null if there is none, or
    if it may name what the caller may not see. `distance`: hops; 0 is the node itself.
    """

    finding: str
    kind: str
    dataset: str
    column: str | None
    rule: str | None
    since: str
    reason: str | None
    run: str | None
    distance: int
    incident: str
    incident_state: str


class CircuitBreaker(TypedDict):
    """The circuit breaker of a node at a time. `state`: `closed` (use the newest data), `open` (do not), or `unknown`.

    `hidden_reasons`: reasons at datasets that the caller may not see. `excused`: findings that go on, of incidents that
    a person resolved or mitigated, or whose data is good again. `unknown`: why it is not certain that nothing else is
    wrong. `unwatched`: the nearest of the `unwatched_datasets` of the `datasets` that nothing watches.
    """

    at: str
    node: str
    state: str
    reasons: list[BreakerReason]
    hidden_reasons: int
    excused: int
    unknown: list[str]
    unwatched: list[str]
    unwatched_datasets: int
    datasets: int


def breaker_document(found: Breaker, viewer: Viewer) -> CircuitBreaker:
    """A breaker, for one viewer."""
    shown = [one for one in found.reasons if viewer.can_see(one.dataset)]
    unwatched = [str(name) for name in found.unwatched if viewer.can_see(name)]
    return {
        "at": iso(found.at),
        "node": str(found.node),
        "state": found.state.value,
        "reasons": [_reason(one, viewer) for one in shown],
        "hidden_reasons": len(found.reasons) - len(shown),
        "excused": found.excused,
        "unknown": list(found.unknown),
        "unwatched": unwatched[:MOST_UNWATCHED],
        "unwatched_datasets": len(found.unwatched),
        "datasets": found.datasets,
    }


def _reason(one: Reason, viewer: Viewer) -> BreakerReason:
    finding = finding_document(one.finding, viewer)
    column = one.finding.column
    sees = bool(column) and viewer.can_see(FieldName(one.dataset, column))
    return {
        "finding": finding["id"],
        "kind": finding["kind"],
        "dataset": finding["dataset"],
        "column": column if sees else None,
        "rule": finding["rule"],
        "since": finding["since"],
        "reason": finding["reason"],
        "run": finding["run"],
        "distance": one.distance,
        "incident": one.incident,
        "incident_state": one.incident_state,
    }
