"""The state of a circuit breaker: a pure function of what a node reads, of incidents, and of what watches them."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from whence.govern.incidents.findings import Finding
from whence.govern.incidents.incident import Incident
from whence.model.ids import node_id
from whence.model.names import DatasetName, Node
from whence.model.records.incidents import IncidentStateText
from whence.query.history.changes.scope import Scope


class BreakerState(StrEnum):
    """Whether the newest data may be used."""

    CLOSED = "closed"
    OPEN = "open"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Something wrong with a dataset that the node reads, so many hops away; and the incident that it is part of."""

    finding: Finding
    dataset: DatasetName
    distance: int
    incident: str
    incident_state: IncidentStateText
    is_excused: bool
    """Whether a person said after it began that the incident does no more harm, or is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """The state of a circuit breaker at a time (µs).

    `excused`: findings that go on, of incidents that a person resolved or mitigated, or whose data is good again.
    `unknown`: why it is not certain that nothing else is wrong. `unwatched`: what it reads, and nothing checks: no
    objective, no contract, no check of the last 60 days; the nearest first. `datasets`: how many it reads.
    """

    at: int
    node: Node
    state: BreakerState
    reasons: tuple[Reason, ...] = ()
    excused: int = 0
    unknown: tuple[str, ...] = ()
    unwatched: tuple[DatasetName, ...] = ()
    datasets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known at a time (µs): incidents, whether all their findings were read, and the datasets, by id, that
    something watches.
    """

    at: int
    incidents: Sequence[Incident]
    are_all: bool
    watched: AbstractSet[int]


def judge_breaker(scope: Scope, known: Known) -> Breaker:
    """The breaker of the root of a scope: open if anything is wrong with what it reads, the columns on the way where
    they are known. If nothing is, it is closed only if that is certain.
    """
    wrong = list(_findings(scope, known))
    reasons = [one for one in wrong if not one.is_excused and not _is_good(one, known.at)]
    unwatched, total = _unwatched(scope, known.watched)
    unknown = tuple(_unknown(scope, known, total, len(unwatched)))
    state = BreakerState.OPEN if reasons else BreakerState.UNKNOWN if unknown else BreakerState.CLOSED
    return Breaker(
        at=known.at,
        node=scope.root,
        state=state,
        reasons=tuple(sorted(reasons, key=_order)),
        excused=len(wrong) - len(reasons),
        unknown=unknown,
        unwatched=tuple(unwatched),
        datasets=total,
    )


def _order(one: Reason) -> tuple[int, int, str]:
    return one.distance, one.finding.since, one.finding.id


def _findings(scope: Scope, known: Known) -> Iterator[Reason]:
    for incident in known.incidents:
        excused_at = _excused_at(incident)
        for one in (each for each in incident.findings if not each.family):
            id_ = node_id(one.dataset)
            if id_ in scope.columns and one.is_open_at(known.at) and _is_on_the_way(scope, id_, one.column):
                yield Reason(
                    finding=one,
                    dataset=one.dataset,
                    distance=scope.distances[id_],
                    incident=incident.id,
                    incident_state=incident.state,
                    is_excused=excused_at is not None and one.since <= excused_at,
                )


def _excused_at(one: Incident) -> int | None:
    """Since when an incident has been mitigated or resolved without a break (µs); None if it is not."""
    if one.state not in ("mitigated", "resolved"):
        return None
    return [change.time for change in takewhile(lambda each: each.state == one.state, reversed(one.changes))][-1]


def _is_on_the_way(scope: Scope, dataset: int, column: str) -> bool:
    """Whether a finding matters: of the whole dataset, or of a column that is read, whatever its case."""
    chosen = scope.columns[dataset]
    return chosen is None or not column or column.casefold() in {one.casefold() for one in chosen}


def _is_good(one: Reason, at: int) -> bool:
    """Whether the data is good again, and only an alert goes on."""
    return any(begin <= at and (end is None or at < end) for begin, end in one.finding.quiet)


def _unwatched(scope: Scope, watched: AbstractSet[int]) -> tuple[Sequence[DatasetName], int]:
    """The datasets that nothing watches under any of their names, the nearest first; and the number of all."""
    ids: dict[DatasetName, set[int]] = {}
    for id_ in scope.datasets:
        if isinstance(name := scope.names[id_], DatasetName):
            ids.setdefault(name, set()).add(id_)
    found = [name for name, some in ids.items() if some.isdisjoint(watched)]
    return sorted(found, key=lambda name: (scope.distance(name), name)), len(ids)


def _unknown(scope: Scope, known: Known, datasets: int, unwatched: int) -> Iterable[str]:
    if not datasets:
        yield "no lineage says what it reads"
    elif datasets == unwatched:
        yield "nothing watches what it reads: no objective, no contract, no check"
    if scope.completeness.stopped_by not in (None, "columns"):
        yield f"not all lineage was read: {scope.completeness.stopped_by}"
    yield from (f"{one.reason.value}: {one.total} node{'s' * (one.total != 1)}" for one in scope.not_known)
    if not known.are_all:
        yield "not all failed runs and checks were read: there are too many"
