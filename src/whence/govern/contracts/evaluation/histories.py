"""The changes of contracts in a period: versions that were applied, and rules that began or ceased to be violated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.contracts.evaluation.transitions import COLUMN, Transition, find_transitions
from whence.govern.contracts.evaluation.verdicts import Outcome
from whence.govern.slos.histories import list_objective_changes
from whence.model.ids import Kind, kind_of, node_id
from whence.openlineage.facets.facet_keys import CONTRACT_VERSION
from whence.query.history.changes.contracts import ContractChange, ContractChanges
from whence.query.history.changes.objectives import ObjectiveChange
from whence.query.history.changes.values import Change
from whence.query.lookup.contracts import CARRIERS, ContractedDataset, ContractVersion, contracted_datasets
from whence.query.ports.catalog import Catalog

VERSION = "version"
"""What a change of the version of a contract is called."""


@dataclass(frozen=True, slots=True)
class EvaluatedContracts:
    """The contracts in a catalog, evaluated over a graph, and its objectives: the port `ContractHistories`."""

    catalog: Catalog
    graph: Observed

    def contracted(self, dataset_ids: Sequence[int]) -> Sequence[int]:
        """The datasets among these that have, or had, a contract."""
        carriers = {one for facet in CARRIERS for one in self.catalog.carrying(facet)}
        wanted = sorted(carriers.intersection(one for one in dataset_ids if kind_of(one) is Kind.DATASET))
        entries = self.catalog.entries(wanted)
        found = {one.name for one in contracted_datasets(self.catalog, list(entries.values()))}
        return [id_ for id_, entry in entries.items() if entry.name in found]

    def changes(self, dataset_id: int, since: int, until: int) -> ContractChanges:
        """The changes of the contract of a dataset after `since` and not after `until` (µs)."""
        (dataset,) = contracted_datasets(self.catalog, list(self.catalog.entries([dataset_id]).values()))
        found = find_transitions(self.catalog, self.graph, dataset, until, since)
        events = self._events(dataset_id)
        rules = [_rule_change(one, events) for one in found.found if one.time > since]
        versions = _version_changes(dataset, events, since, until)
        return ContractChanges(found=(*versions, *rules), complete=found.known_from is None)

    def objective_changes(self, since: int, until: int) -> Sequence[ObjectiveChange]:
        """The objectives that began or ceased to be violated after `since` and not after `until` (µs)."""
        return list_objective_changes(self.catalog, self.graph, since, until)

    def _events(self, dataset_id: int) -> Mapping[int, int]:
        """When columns were reported and versions applied (µs), and by which event."""
        facets = self.catalog.facets([dataset_id]).get(dataset_id, {})
        names = [name for name in facets if name.startswith(CONTRACT_VERSION) or name in CARRIERS]
        rows = self.graph.facets([dataset_id], names) if names else ()
        aliases = self.graph.groups([dataset_id]).get(dataset_id, ())
        schemas = self.graph.schemas({dataset_id, *map(node_id, aliases)})
        reported = [
            end for row in schemas for end in ((row.first_time, row.first_event), (row.last_time, row.last_event))
        ]
        applied = sorted(((row.time, row.event_id) for row in rows), reverse=True)
        return dict([*sorted(reported, reverse=True), *applied])


def _version_changes(
    dataset: ContractedDataset, events: Mapping[int, int], since: int, until: int
) -> Iterator[ContractChange]:
    before: ContractVersion | None = None
    for one in reversed(dataset.versions):
        if since < one.applied_at <= until:
            old = "" if before is None else before.version
            change = Change.ADDED if not old else Change.CHANGED if one.version else Change.REMOVED
            yield ContractChange(
                time=one.applied_at,
                change=change,
                rule=VERSION,
                before=old,
                after=one.version,
                event_id=events.get(one.applied_at, 0),
            )
        before = one


def _rule_change(one: Transition, events: Mapping[int, int]) -> ContractChange:
    return ContractChange(
        time=one.time,
        change=Change.VIOLATED if one.after is Outcome.VIOLATED else Change.FULFILLED,
        rule="" if one.rule == COLUMN else one.rule,
        column=one.column,
        before="" if one.before is None else one.before.value,
        after=_after(one),
        run=one.verdict.run,
        event_id=0 if one.verdict.run else events.get(one.time, 0),
    )


def _after(one: Transition) -> str:
    if one.after is None:
        return ""
    seen, wanted = one.verdict.observed, one.verdict.expected
    details = (f"expected {wanted}" if wanted else "", f"found {seen}" if seen else "")
    return ", ".join(filter(None, (one.after.value, *details)))
