"""Why a model may have to be trained again: findings and changes of schemas upstream of it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whence.govern.incidents.findings import Finding, FindingKind
from whence.govern.incidents.incident import Incident
from whence.govern.notifications.notice import digest
from whence.model.access import matches_pattern
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName
from whence.query.answers.values import dataset_of
from whence.query.diagnosis.change_texts import part_text
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.values import Change, ChangeKind, Part, UpstreamChange

DAY = 86_400_000_000
NEWS = 3 * DAY
"""How long ago a cause began of which receivers are still notified."""


class TriggerKind(StrEnum):
    """What happened to a column upstream of a model."""

    SCHEMA = "schema"
    DRIFT = "drift"
    CONTRACT = "contract"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainRoute:
    """Which receivers are notified of what, for the models whose names match one of some patterns."""

    receivers: tuple[str, ...]
    models: tuple[str, ...]
    kinds: tuple[TriggerKind, ...] = tuple(TriggerKind)

    def is_for(self, model: DatasetName) -> bool:
        """Whether it is about a model."""
        return any(matches_pattern(one, model.name) for one in self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainTrigger:
    """A cause to train a model again. `cause`: its id; `column`: the one that it is about, empty: the whole dataset, or
    not known; `rule`: what found it; `since` (µs); `distance`: hops upstream; `incident`: its id, empty without one.
    """

    model: DatasetName
    kind: TriggerKind
    cause: str
    dataset: DatasetName
    column: str = ""
    rule: str = ""
    text: str = ""
    since: int
    distance: int
    incident: str = ""

    @property
    def key(self) -> str:
        """The same for the same cause of the same model."""
        return digest("retrain", str(self.model), self.kind, self.cause)


def find_triggers(
    model: DatasetName,
    scope: Scope,
    incidents: Sequence[Incident],
    changes: Iterable[UpstreamChange],
    kinds: Mapping[str, str],
    now: int,
) -> Iterator[RetrainTrigger]:
    """The triggers of a model at a time (µs). `scope`: what it is made of; `changes`: of schemas there; `kinds`: of the
    indicators of objectives, by `service/name`.
    """
    for incident in incidents:
        for one in incident.findings:
            kind, id_ = _kind_of(one, kinds), node_id(one.dataset)
            if kind is None or one.since < now - NEWS or not _is_upstream(scope, model, id_, one.column):
                continue
            yield RetrainTrigger(
                model=model,
                kind=kind,
                cause=one.id,
                dataset=one.dataset,
                column=one.column,
                rule=one.rule,
                text=one.reason,
                since=one.since,
                distance=scope.distances[id_],
                incident=incident.id,
            )
    for change in changes:
        dataset = dataset_of(change.node)
        if change.kind is ChangeKind.SCHEMA and change.distance and dataset and change.time >= now - NEWS:
            yield from (_of_schema(model, change, dataset, part) for part in change.parts if _breaks(part))


def _kind_of(one: Finding, kinds: Mapping[str, str]) -> TriggerKind | None:
    """That data is late, or a run failed, is no reason to train again: it will come."""
    match one.kind:
        case FindingKind.CONTRACT:
            return TriggerKind.CONTRACT
        case FindingKind.CHECK:
            return TriggerKind.DRIFT
        case FindingKind.SLO:
            return _OF_INDICATORS.get(kinds.get(one.rule, ""))
    return None


_OF_INDICATORS: Mapping[str, TriggerKind] = {
    "quality": TriggerKind.DRIFT,
    "measurement": TriggerKind.DRIFT,
    "check": TriggerKind.DRIFT,
    "volume": TriggerKind.DRIFT,
    "schema": TriggerKind.SCHEMA,
}


def _is_upstream(scope: Scope, model: DatasetName, dataset: int, column: str) -> bool:
    """Whether a finding is about what the model is made of: not about itself, nor about a column beside the way."""
    if dataset not in scope.columns or scope.names[dataset] == model:
        return False
    chosen = scope.columns[dataset]
    return chosen is None or not column or column.casefold() in {one.casefold() for one in chosen}


def _breaks(part: Part) -> bool:
    """A new column is no part of what the model was trained on."""
    return part.change in (Change.REMOVED, Change.CHANGED)


def _of_schema(model: DatasetName, change: UpstreamChange, dataset: DatasetName, part: Part) -> RetrainTrigger:
    # The time of a schema that alternates with another one moves with each report: once a day is enough.
    cause = digest(str(FieldName(dataset, part.name)), part.before, part.after, str(change.time // DAY))
    return RetrainTrigger(
        model=model,
        kind=TriggerKind.SCHEMA,
        cause=cause,
        dataset=dataset,
        column=part.name,
        text=part_text(ChangeKind.SCHEMA, part),
        since=change.time,
        distance=change.distance,
    )
