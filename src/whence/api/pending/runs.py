"""The state of a run including pending assertions (docs/explanation/state.md, "Run state"). Pure functions."""

from collections.abc import Iterable, Sequence

from whence.model.catalog import RunDatasets, RunEntry, RunFacet
from whence.model.events import Dataset, RunEvent, RunState
from whence.model.ids import node_id

_UNSUCCESSFUL = (RunState.ABORT, RunState.FAIL)


def run_after(known: RunEntry | None, events: Sequence[RunEvent]) -> RunEntry:
    """A run after at least one further event, in their order."""
    (name,) = {one.run.name for one in events}
    started, one = None, known or RunEntry(node_id(name), name, RunState.OTHER, 0, None, None, None)
    for event in events:
        if event.state is RunState.START:
            started = event.time
        one = _with_times(one, event)
        if _replaces(one, event, started):
            one = one._replace(state=event.state, state_at=event.time)
    return one


def _with_times(known: RunEntry, event: RunEvent) -> RunEntry:
    started = (event.time,) if event.state is RunState.START else ()
    seen = [one for one in (known.seen_from, known.seen_to, event.time) if one is not None]
    starts = [one for one in (known.started_at, *started) if one is not None]
    return known._replace(seen_from=min(seen), seen_to=max(seen), started_at=min(starts, default=None))


def _replaces(known: RunEntry, event: RunEvent, started: int | None) -> bool:
    """Whether a state outranks the known one. A COMPLETE replaces an unsuccessful end only in a new attempt."""
    if known.state in _UNSUCCESSFUL and event.state is RunState.COMPLETE:
        return started is not None and known.state_at < started <= event.time
    return (event.state.rank, event.time, event.state) > (known.state.rank, known.state_at, known.state)


def run_facets_of(known: Iterable[RunFacet], events: Sequence[RunEvent]) -> list[RunFacet]:
    """The facets of a run, its inputs and outputs after some events: the latest payload of each."""
    found = {(one.role, one.dataset_id, one.key): one for one in known}
    for event in events:
        added = [RunFacet("", 0, one.key, one.payload) for one in event.run.facets]
        added += [*_facets_of_datasets("input", event.inputs), *_facets_of_datasets("output", event.outputs)]
        found |= {(one.role, one.dataset_id, one.key): one for one in added}
    return [found[key] for key in sorted(found)]


def _facets_of_datasets(role: str, datasets: Iterable[Dataset]) -> Iterable[RunFacet]:
    return (RunFacet(role, node_id(of.name), one.key, one.payload) for of in datasets for one in of.run_facets)


def touched_of(known: RunDatasets | None, events: Sequence[RunEvent]) -> RunDatasets:
    """The inputs and outputs of a run after some events. Its version is the one in the store."""
    before = known or RunDatasets(0, (), ())
    inputs = {*before.inputs, *(node_id(one.name) for event in events for one in event.inputs)}
    outputs = {*before.outputs, *(node_id(one.name) for event in events for one in event.outputs)}
    return RunDatasets(before.version, tuple(sorted(inputs)), tuple(sorted(outputs)))
