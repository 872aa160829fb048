"""Versions of contracts that were applied, and rules that began or ceased to be violated, on the way to a node.

Contracts are judged above this package. What judges them comes through a port.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, RunName
from whence.query.history.changes.objectives import ObjectiveChange
from whence.query.history.changes.scope import Scope, unknown_nodes
from whence.query.history.changes.values import Change, ChangeKind, NotKnown, Part, Proof, Unknown, UpstreamChange

MOST_CONTRACTS = 50
"""Datasets whose contracts one question evaluates: the nearest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """A version that was applied or ended, or a rule that is violated from a time on (µs), or no longer.

    `run` reported what decides the rule; else an event did, or applied a version, or time alone passed (0).
    """

    time: int
    change: Change
    rule: str
    column: str = ""
    before: str = ""
    after: str = ""
    run: RunName | None = None
    event_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChanges:
    """The changes of one contract in a period. `complete`: there are no others."""

    found: tuple[ContractChange, ...] = ()
    complete: bool = True


class ContractHistories(Protocol):
    """The contracts and objectives of datasets, and their changes."""

    def contracted(self, dataset_ids: Sequence[int]) -> Sequence[int]:
        """The datasets among these that have, or had, a contract."""
        ...

    def changes(self, dataset_id: int, since: int, until: int) -> ContractChanges:
        """The changes of the contract of a dataset after `since` and not after `until` (µs)."""
        ...

    def objective_changes(self, since: int, until: int) -> Sequence[ObjectiveChange]:
        """The objectives that began or ceased to be violated after `since` and not after `until` (µs)."""
        ...


def contract_changes(
    histories: ContractHistories, scope: Scope, since: int, until: int
) -> tuple[list[UpstreamChange], list[NotKnown]]:
    """The changes of the contracts of the nearest datasets, as far as they are about columns that are on the way."""
    contracted = sorted(histories.contracted(scope.datasets), key=lambda id_: (scope.distances[id_], id_))
    found, unknown = list[UpstreamChange](), set(contracted[MOST_CONTRACTS:])
    for id_ in contracted[:MOST_CONTRACTS]:
        dataset = scope.names[id_]
        assert isinstance(dataset, DatasetName)
        changes = histories.changes(id_, since, until)
        if not changes.complete:
            unknown.add(id_)
        found += _entries(scope, id_, dataset, changes)
    return found, [unknown_nodes(scope, Unknown.CONTRACTS, unknown)] if unknown else []


def _entries(scope: Scope, id_: int, dataset: DatasetName, changes: ContractChanges) -> Iterator[UpstreamChange]:
    for one in changes.found:
        if scope.has_column(id_, one.column):
            yield UpstreamChange(
                time=one.time,
                kind=ChangeKind.CONTRACT,
                change=one.change,
                node=FieldName(dataset, one.column) if one.column else dataset,
                distance=scope.distances[id_],
                parts=(Part(change=one.change, name=one.rule, before=one.before, after=one.after),),
                job=None if one.run is None else one.run.job,
                run=one.run,
                proof=Proof(event_id=one.event_id, run_id=0 if one.run is None else node_id(one.run), time=one.time),
            )
