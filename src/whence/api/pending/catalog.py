"""The catalog of a store including its pending assertions, for the answers to writes.

The rules are those of state.md, for single nodes. Lists, totals and lineage are those of the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whence.api.pending.assertions import Pending, PendingEvent, mentions_of
from whence.api.pending.runs import run_after, run_facets_of, touched_of
from whence.model.catalog import (
    REGISTRY,
    Entry,
    EventEntry,
    FacetRecord,
    RegisteredFacet,
    RegisteredFilter,
    RunDatasets,
    RunEntry,
    RunFacet,
    SchemaRecord,
    Write,
)
from whence.model.events import Change, Dataset, DatasetEvent, EventKind, Facet, JobEvent, RunEvent, RunState
from whence.model.ids import Kind, hash64, node_id
from whence.model.names import DatasetName, JobName, Node
from whence.store.snapshots.catalog import StoreCatalog

Name = DatasetName | JobName


@dataclass(frozen=True, slots=True)
class PendingCatalog(StoreCatalog):
    """A `StoreCatalog` overlaid with pending assertions. The port documents the methods."""

    pending: Pending = field(default_factory=Pending)

    def namespaces(self, kind: Kind) -> Sequence[str]:
        found = {*StoreCatalog.namespaces(self, kind)}
        some = {id_: name for id_, name in self._names(kind).items() if name.namespace != REGISTRY}
        return sorted(found | {some[id_].namespace for id_ in some.keys() - self.deleted(some)})

    def first_seen(self, kind: Kind, namespaces: Sequence[str]) -> Mapping[str, int]:
        found = dict(StoreCatalog.first_seen(self, kind, namespaces))
        wanted = {id_: name for id_, name in self._names(kind).items() if name.namespace in namespaces}
        for one in self.entries(wanted).values():
            space = one.name.namespace
            found[space] = min(found.get(space, one.first_seen), one.first_seen)
        return found

    def registered(self, kind: str) -> Sequence[Entry]:
        known = {one.id: one for one in StoreCatalog.registered(self, kind)}
        names = self._names(Kind.DATASET)
        of_kind = [id_ for id_, one in names.items() if one.namespace == REGISTRY and one.name.startswith(f"{kind}/")]
        found = {**known, **self.entries(of_kind)}
        gone = self.deleted(of_kind)
        return sorted((one for one in found.values() if one.id not in gone), key=lambda one: one.name)

    def registered_facets(self, wanted: RegisteredFilter) -> Sequence[RegisteredFacet]:
        known = {one.name: one for one in StoreCatalog.registered_facets(self, wanted)}
        for name in self._names(Kind.DATASET).values():
            if isinstance(name, DatasetName) and _is_wanted(name, wanted):
                for one in self.pending.of_node(name):
                    _apply(known, name, one, wanted)
        found = sorted(known.values(), key=lambda one: (one.time, one.name), reverse=True)
        return found[: wanted.limit]

    def entries(self, ids: Iterable[int]) -> Mapping[int, Entry]:
        wanted, names = list(ids), self.pending.names()
        found = dict(StoreCatalog.entries(self, wanted))
        for id_ in wanted:
            name = names.get(id_)
            if isinstance(name, Name) and (times := [one.event.time for one in self.pending.of_node(name)]):
                known = found.get(id_)
                seen = [*times, *((known.first_seen, known.last_seen) if known else ())]
                found[id_] = Entry(id_, name, min(seen), max(seen))
        return found

    def deleted(self, ids: Iterable[int]) -> frozenset[int]:
        wanted, names = list(ids), self.pending.names()
        found = set(StoreCatalog.deleted(self, wanted))
        for id_ in wanted:
            name = names.get(id_)
            if isinstance(name, Name) and (events := self.pending.of_node(name)):
                (found.add if _is_ended(name, events) else found.discard)(id_)
        return frozenset(found)

    def facets(self, ids: Iterable[int], names: Sequence[str] = ()) -> Mapping[int, Mapping[str, FacetRecord]]:
        wanted, nodes = list(ids), self.pending.names()
        found = dict(StoreCatalog.facets(self, wanted, names))
        for id_ in wanted:
            node = nodes.get(id_)
            if isinstance(node, Name):
                found[id_] = _with_facets(found.get(id_, {}), node, self.pending.of_node(node), names)
        return found

    def schemas(self, dataset_ids: Iterable[int]) -> Mapping[int, Sequence[SchemaRecord]]:
        wanted, names = list(dataset_ids), self.pending.names()
        found = dict(StoreCatalog.schemas(self, wanted))
        for id_ in wanted:
            name = names.get(id_)
            if isinstance(name, DatasetName):
                found[id_] = _with_schemas(found.get(id_, ()), name, self.pending.of_node(name))
        return found

    def runs(self, run_ids: Iterable[str]) -> Sequence[RunEntry]:
        wanted = list(run_ids)
        known = {one.id: one for one in StoreCatalog.runs(self, wanted)}
        for run_id in wanted:
            for id_, events in self._by_run(run_id).items():
                known[id_] = run_after(known.get(id_), events)
        return sorted(known.values(), key=lambda one: (one.seen_to is None, -(one.seen_to or 0), one.id))

    def latest_runs(self, job_ids: Iterable[int], limit: int) -> Mapping[int, Sequence[RunEntry]]:
        wanted, names = list(job_ids), self.pending.names()
        found = dict(StoreCatalog.latest_runs(self, wanted, limit))
        for id_ in wanted:
            job = names.get(id_)
            if isinstance(job, JobName) and (run_ids := self.pending.runs_of(job)):
                several = {one.id: one for one in (*found.get(id_, ()), *self.runs(run_ids)) if one.name.job == job}
                newest = sorted(several.values(), key=lambda one: (one.seen_to or 0, one.id), reverse=True)
                found[id_] = newest[:limit]
        return found

    def run_facets(self, ids: Iterable[int], key: str = "") -> Mapping[int, Sequence[RunFacet]]:
        wanted = set(ids)
        found = dict(StoreCatalog.run_facets(self, wanted, key))
        for id_, events in self._runs_among(wanted).items():
            every = run_facets_of(found.get(id_, ()), events)
            found[id_] = [one for one in every if key in ("", one.key)]
        return found

    def touched(self, ids: Iterable[int]) -> Mapping[int, RunDatasets]:
        wanted = set(ids)
        found = dict(StoreCatalog.touched(self, wanted))
        for id_, events in self._runs_among(wanted).items():
            found[id_] = touched_of(found.get(id_), events)
        return found

    def last_writes(self, dataset_ids: Iterable[int]) -> Mapping[int, Write]:
        wanted, names = list(dataset_ids), self.pending.names()
        found = dict(StoreCatalog.last_writes(self, wanted))
        for id_ in wanted:
            name = names.get(id_)
            for one in self.pending.of_node(name) if isinstance(name, DatasetName) else ():
                if isinstance(one.event, RunEvent) and any(output.name == name for output in one.event.outputs):
                    run = next(run for run in self.runs([one.event.run.name.run_id]) if run.name == one.event.run.name)
                    found[id_] = Write(id_, run, one.event.time)
        return found

    def last_write_times(self, dataset_ids: Iterable[int]) -> Mapping[int, int]:
        return {id_: one.time for id_, one in self.last_writes(dataset_ids).items()}

    def declaration(self, job_id: int) -> EventEntry | None:
        job = self.pending.names().get(job_id)
        last = last_declared(self.pending.of_node(job)) if isinstance(job, JobName) else None
        if last is None or not isinstance(job, JobName):
            return StoreCatalog.declaration(self, job_id)
        event, at = last.event, last.position.as_int
        return EventEntry(last.key, at, event.time, EventKind.JOB, RunState.OTHER, event.producer, job)

    def _names(self, kind: Kind) -> Mapping[int, Name]:
        of_kind: type[Name] = DatasetName if kind is Kind.DATASET else JobName
        return {id_: one for id_, one in self.pending.names().items() if isinstance(one, of_kind)}

    def _runs_among(self, ids: Iterable[int]) -> Mapping[int, Sequence[RunEvent]]:
        wanted = set(ids)
        several = [self._by_run(run_id) for run_id in self.pending.run_ids()]
        return {id_: events for some in several for id_, events in some.items() if id_ in wanted}

    def _by_run(self, run_id: str) -> Mapping[int, Sequence[RunEvent]]:
        """The events of each run with this id; of several runs if several jobs claim it."""
        found: dict[int, list[RunEvent]] = {}
        for one in self.pending.of_run(run_id):
            if isinstance(one.event, RunEvent):
                found.setdefault(node_id(one.event.run.name), []).append(one.event)
        return found


def last_declared(events: Sequence[PendingEvent]) -> PendingEvent | None:
    """The last of some events that declares a job."""
    return next((one for one in reversed(events) if isinstance(one.event, JobEvent)), None)


def _is_wanted(name: DatasetName, wanted: RegisteredFilter) -> bool:
    of_kind = name.namespace == REGISTRY and name.name.startswith(f"{wanted.kind}/{wanted.begins}")
    return of_kind and (not wanted.namespace or name.name.endswith(f"/{wanted.namespace}"))


def _apply(
    known: dict[DatasetName, RegisteredFacet], name: DatasetName, one: PendingEvent, wanted: RegisteredFilter
) -> None:
    """Apply an assertion to the facets that a store has."""
    for facet in _facets_of(name, one):
        before, time = known.get(name), one.event.time
        if facet.key != wanted.facet or (before is not None and before.time > time):
            continue
        known.pop(name, None)
        if not facet.deleted and (wanted.before is None or (time, name.name) < wanted.before):
            known[name] = RegisteredFacet(name, facet.payload, time, one.event.producer)


def _is_ended(name: Node, events: Sequence[PendingEvent]) -> bool:
    """Whether the last assertion about a node is its end; at equal times, the end wins."""
    return max((one.event.time, _ends(one, name)) for one in events)[1]


def _ends(one: PendingEvent, name: Node) -> bool:
    match one.event:
        case JobEvent() as event if event.job.name == name:
            return event.job.decommissioned
        case DatasetEvent() as event:
            change = event.dataset.lifecycle
            return change is not None and change.change is Change.DROP
    return False


def _facets_of(name: Node, one: PendingEvent) -> Iterable[Facet]:
    if isinstance(name, JobName):
        return () if isinstance(one.event, DatasetEvent) else one.event.job.facets
    return (facet for mentioned in _mentions(name, one) for facet in mentioned.facets)


def _mentions(name: Node, one: PendingEvent) -> Iterable[Dataset]:
    return (mentioned for mentioned in mentions_of(one.event) if mentioned.name == name)


def _with_facets(
    stored: Mapping[str, FacetRecord], name: Node, events: Sequence[PendingEvent], wanted: Sequence[str]
) -> Mapping[str, FacetRecord]:
    found = dict(stored)
    for one in events:
        for facet in _facets_of(name, one):
            current = found.get(facet.key)
            if (wanted and facet.key not in wanted) or (current is not None and current.time > one.event.time):
                continue
            found.pop(facet.key, None)
            if not facet.deleted:
                found[facet.key] = FacetRecord(facet.payload, one.event.time)
    return found


def _with_schemas(
    stored: Sequence[SchemaRecord], name: DatasetName, events: Sequence[PendingEvent]
) -> Sequence[SchemaRecord]:
    found = {one.body_id: one for one in stored}
    for one in events:
        payloads = [facet.payload for facet in _facets_of(name, one) if facet.key == "schema" and not facet.deleted]
        for payload in payloads:
            time = one.event.time
            current = found.get(id_ := hash64(payload), SchemaRecord(id_, payload, time, time))
            found[id_] = current._replace(last_time=max(current.last_time, time))
    return sorted(found.values(), key=lambda one: (-one.first_time, one.body_id))
