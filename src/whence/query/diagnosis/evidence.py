"""Evidence for a candidate: sentences about what changed, what is unusual, and what that would explain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.model.graph import AssertingEvent
from whence.query.diagnosis.anomalies import Anomaly
from whence.query.diagnosis.case import Aspect
from whence.query.diagnosis.change_texts import change_text
from whence.query.diagnosis.ranking import RankedCandidate
from whence.query.diagnosis.signals import HOT
from whence.query.history.changes.values import Change, UpstreamChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One fact (time in µs): `kind` is that of the change, or `anomaly`. `event` proves a change, if it is stored."""

    time: int
    kind: str
    text: str
    event: AssertingEvent | None = None


def evidence_of(ranked: RankedCandidate, changes: Sequence[UpstreamChange]) -> tuple[Evidence, ...]:
    """The evidence of one candidate, the oldest first."""
    found = [*_of_changes(changes), *_of_anomalies(ranked)]
    return tuple(sorted(found, key=lambda one: (one.time, one.kind, one.text)))


def is_unusual(one: Anomaly) -> bool:
    """Whether a measurement is so far from its own history that it counts."""
    return abs(one.score) >= HOT


def _of_changes(changes: Sequence[UpstreamChange]) -> Iterator[Evidence]:
    for one in changes:
        if one.change not in (Change.RECOVERED, Change.FULFILLED):
            yield Evidence(time=one.time, kind=one.kind.value, text=change_text(one), event=one.event)


def _of_anomalies(ranked: RankedCandidate) -> Iterator[Evidence]:
    for one in ranked.anomalies.values():
        if is_unusual(one):
            yield Evidence(time=one.time, kind="anomaly", text=anomaly_text(one))


def anomaly_text(one: Anomaly) -> str:
    """What was measured, and what its history lets expect."""
    series, history = one.series, f"from {one.history} earlier values"
    match series.aspect:
        case Aspect.ROWS:
            return f"{one.value:,.0f} rows, expected about {one.expected:,.0f} {history}"
        case Aspect.DELAY:
            return f"{_hours(one.value)} between writes, expected about {_hours(one.expected)} {history}"
        case Aspect.NULLS:
            return f"{_share(one.value)} nulls in {series.column}, expected about {_share(one.expected)} {history}"
        case Aspect.DISTINCT:
            value, expected = _share(one.value), _share(one.expected)
            return f"{value} distinct values in {series.column}, expected about {expected} {history}"
    return f"{series.metric} of {series.column} is {one.value:.4g}, expected about {one.expected:.4g} {history}"


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.3g} h" if seconds >= 3600 else f"{seconds / 60:.3g} min"
