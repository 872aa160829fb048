"""The objectives that began or ceased to be violated in a period, as their recorded transitions say."""

from collections.abc import Iterator, Mapping, Sequence

from whence.govern.slos.objectives import Check, Measured, Quality
from whence.govern.slos.records import Declaration, Transition, list_declarations, list_transitions
from whence.model.ids import node_id
from whence.model.names import DatasetName, parse_node
from whence.model.slo_records import SLO_TRANSITION, transition_dataset
from whence.query.history.changes.objectives import ObjectiveChange
from whence.query.history.changes.values import Change
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Runs


def list_objective_changes(catalog: Catalog, graph: Runs, since: int, until: int) -> Sequence[ObjectiveChange]:
    """The changes after `since` and not after `until` (µs), in order."""
    found = [one for one in list_transitions(catalog, until=until) if one.time > since and _change_of(one)]
    if not found:
        return ()
    declared = list_declarations(catalog, until)
    events = _events(graph, found)
    return [one for each in found for one in _changes(each, declared.get(each.record.slo, ()), events)]


def _changes(one: Transition, declared: Sequence[Declaration], events: Mapping[str, int]) -> Iterator[ObjectiveChange]:
    dataset, change, record = parse_node(one.record.dataset), _change_of(one), one.record
    if isinstance(dataset, DatasetName) and change is not None:
        yield ObjectiveChange(
            time=one.time,
            change=change,
            dataset=dataset,
            objective=f"{record.service}/{record.name}",
            column=_column(declared),
            before=record.before,
            after=record.reason or record.after,
            event_id=events.get(one.id, 0),
        )


def _change_of(one: Transition) -> Change | None:
    """That nothing is measured any more ends no violation."""
    match one.record.before, one.record.after:
        case before, "violated" if before != "violated":
            return Change.VIOLATED
        case "violated", "holds":
            return Change.FULFILLED
    return None


def _column(declared: Sequence[Declaration]) -> str:
    indicator = declared[-1].objective.indicator if declared and declared[-1].objective else None
    return indicator.column if isinstance(indicator, Quality | Measured | Check) else ""


def _events(graph: Runs, transitions: Sequence[Transition]) -> Mapping[str, int]:
    """The event of each transition, by its id."""
    ids: dict[int, str] = {}
    for one in transitions:
        dataset = parse_node(one.record.dataset)
        if isinstance(dataset, DatasetName):
            ids[node_id(transition_dataset(dataset.namespace, one.record))] = one.id
    return {ids[row.subject_id]: row.event_id for row in graph.facets(sorted(ids), (SLO_TRANSITION,))}
