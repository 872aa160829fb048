"""Objectives that began or ceased to be violated, on the way to a node, as their recorded transitions say.

Objectives are judged above this package. Their transitions come through a port.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.values import Change, ChangeKind, Part, Proof, UpstreamChange


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveChange:
    """An objective of a dataset that is violated from a time on (µs), or no longer. `column`: the one that it is about,
    empty: the dataset, or not known; `event_id`: of its transition, 0 if it is not known.
    """

    time: int
    change: Change
    dataset: DatasetName
    objective: str
    column: str = ""
    before: str = ""
    after: str = ""
    event_id: int = 0


def objective_changes(changes: Sequence[ObjectiveChange], scope: Scope) -> Iterator[UpstreamChange]:
    """The changes of objectives of the datasets of a scope, as far as they are about columns that are on the way."""
    for one in changes:
        id_ = node_id(one.dataset)
        if id_ in scope.columns and scope.has_column(id_, one.column):
            dataset = scope.names[id_]
            assert isinstance(dataset, DatasetName)
            yield UpstreamChange(
                time=one.time,
                kind=ChangeKind.OBJECTIVE,
                change=one.change,
                node=FieldName(dataset, one.column) if one.column else dataset,
                distance=scope.distances[id_],
                parts=(Part(change=one.change, name=one.objective, before=one.before, after=one.after),),
                proof=Proof(event_id=one.event_id, time=one.time),
            )
