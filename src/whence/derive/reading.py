"""One record of the log as flat values: what the rows of every table are made from. Pure; runs in Arrow batches in
the executors.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from whence.errors import EventError
from whence.log import Kind as RecordKind
from whence.log import Record
from whence.model.events import Dataset, DatasetEvent, Event, Facet, Job, JobEvent, RunEvent, RunState, SchemaField
from whence.model.ids import hash64, node_id
from whence.model.lineage import Edge, LineageSet, digest
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.lineage import lineage_sets
from whence.openlineage.read import read_event

Flat = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an event says, in ids and names; the tuples' columns are those of `schema.LISTS`."""

    event: Event
    subject: int
    run: tuple[int, str, int] | None
    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    fields: tuple[Flat, ...]
    containers: tuple[Flat, ...]
    facets: tuple[Flat, ...]
    aliases: tuple[Flat, ...]
    sets: tuple[Flat, ...]
    edges: tuple[Flat, ...]
    declarer: int | None


def read_record(record: Record) -> Said | str | None:
    """What the record's event says; the reason why it cannot be read; or None for a record that is no event of its
    own.
    """
    match record.kind:
        case RecordKind.RECEIPT:
            return None
        case RecordKind.QUARANTINED:
            return f"{record.pointer or '/'}: {record.reason}"
    try:
        return say(read_event(record.payload))
    except EventError as error:
        return str(error)


def say(event: Event) -> Said:
    """Flatten an event: every name that it mentions, every fact that it states."""
    owner = owner_of(event)
    decides = _decides_lineage(event)
    weave = _weave_once if sum(map(len, decides)) < CACHED_CHARACTERS else _weave
    woven = weave(_Spoken(decides, event))
    run = event.run if isinstance(event, RunEvent) else None
    containers = tuple(_containers(event))
    return Said(
        event=event,
        subject=node_id(run.name if run else owner),
        run=(node_id(run.name), run.name.run_id, node_id(run.name.job)) if run else None,
        datasets=(*woven.datasets, *_datasets(event)),
        jobs=(*woven.jobs, *_jobs(event, containers)),
        fields=(*woven.fields, *(row for one in _mentioned(event) for row in _declared(one))),
        containers=tuple((node_id(name), name.run_id, node_id(name.job), relation) for name, relation in containers),
        facets=tuple(_facets(event)),
        aliases=tuple(_aliases(event)),
        sets=woven.sets,
        edges=woven.edges,
        declarer=_declarer(event),
    )


def warnings_text(event: Event) -> str:
    """The event's warnings as a JSON array."""
    return json.dumps(event.warnings) if event.warnings else "[]"


def state_of(event: Event) -> RunState:
    """The state that a run event reports; OTHER for the events that have none."""
    return event.state if isinstance(event, RunEvent) else RunState.OTHER


def kind_of(event: Event) -> str:
    """run, job or dataset."""
    match event:
        case RunEvent():
            return "run"
        case JobEvent():
            return "job"
        case DatasetEvent():
            return "dataset"


def owner_of(event: Event) -> JobName | DatasetName:
    """Whose lineage the event speaks of."""
    return event.dataset.name if isinstance(event, DatasetEvent) else event.job.name


def _mentioned(event: Event) -> tuple[Dataset, ...]:
    match event:
        case RunEvent():
            return (*event.inputs, *event.outputs)
        case JobEvent():
            return (*event.inputs, *event.outputs, *((event.dataset,) if event.dataset else ()))
        case DatasetEvent():
            return (event.dataset,)


# A job says the same of its lineage and schemas, event after event: what follows from them is computed once per
# distinct text.


@dataclass(frozen=True, slots=True)
class _Spoken:
    """An event, equal to every other event of which all that decides its lineage is equal."""

    decides: tuple[str, ...]
    event: Event = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Schema:
    """A dataset's schema, equal by name and facet text."""

    dataset: DatasetName
    payload: str
    fields: tuple[SchemaField, ...] = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Woven:
    """The rows that follow from an event's lineage."""

    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    fields: tuple[Flat, ...]
    sets: tuple[Flat, ...]
    edges: tuple[Flat, ...]


CACHED_CHARACTERS = 32_768
"""Longer texts are not kept, so that strangers' megabytes do not fill an executor."""


def _decides_lineage(event: Event) -> tuple[str, ...]:
    match event:
        case DatasetEvent(dataset=dataset):
            return (*_texts(dataset.name), _payload(dataset.facets, "lineage"))
        case RunEvent() | JobEvent():
            said = [
                text for one in event.outputs for text in (*_texts(one.name), _payload(one.facets, "columnLineage"))
            ]
            inputs = [text for one in event.inputs for text in _texts(one.name)]
            return (*_texts(event.job.name), _payload(event.job.facets, "lineage"), str(len(inputs)), *inputs, *said)


def _texts(name: DatasetName | JobName) -> tuple[str, str]:
    return name.namespace, name.name


def _payload(facets: tuple[Facet, ...], key: str) -> str:
    return next((facet.payload for facet in facets if facet.key == key), "")


def _weave(spoken: _Spoken) -> _Woven:
    owner = owner_of(spoken.event)
    lineage = tuple((one, digest(owner, one)) for one in lineage_sets(spoken.event))
    nodes = {end for one, _ in lineage for edge in one.edges for end in (edge.source, edge.target)}
    fields = [node for node in nodes if isinstance(node, FieldName)]
    datasets = {node for node in nodes if isinstance(node, DatasetName)} | {name.dataset for name in fields}
    return _Woven(
        datasets=tuple((node_id(name), name.namespace, name.name) for name in datasets),
        jobs=tuple((node_id(name), name.namespace, name.name) for name in nodes if isinstance(name, JobName)),
        fields=tuple((node_id(name), node_id(name.dataset), name.field, 0) for name in fields),
        sets=tuple(_set(owner, one, address) for one, address in lineage),
        edges=tuple(row for one, address in lineage for row in _edges(one, address)),
    )


_weave_once = lru_cache(maxsize=4_096)(_weave)


def _schema_rows(schema: _Schema) -> tuple[Flat, ...]:
    dataset = node_id(schema.dataset)
    return tuple(
        (node_id(FieldName(schema.dataset, name)), dataset, name, 1) for name in {one.name for one in schema.fields}
    )


_schema_rows_once = lru_cache(maxsize=4_096)(_schema_rows)


def _declared(one: Dataset) -> tuple[Flat, ...]:
    if not one.fields:
        return ()
    payload = _payload(one.facets, "schema")
    rows = _schema_rows_once if len(payload) < CACHED_CHARACTERS else _schema_rows
    return rows(_Schema(one.name, payload, one.fields))


def _datasets(event: Event) -> Iterator[Flat]:
    for one in _mentioned(event):
        for name in (one.name, *(link.name for link in one.symlinks)):
            yield node_id(name), name.namespace, name.name


def _jobs(event: Event, containers: tuple[tuple[RunName, str], ...]) -> Iterator[Flat]:
    own = () if isinstance(event, DatasetEvent) else (event.job.name,)
    for name in (*own, *(container.job for container, _ in containers)):
        yield node_id(name), name.namespace, name.name


def _containers(event: Event) -> Iterator[tuple[RunName, str]]:
    if not isinstance(event, RunEvent):
        return
    for name, relation in ((event.run.parent, "parent"), (event.run.root, "root")):
        if name is not None and name != event.run.name:
            yield name, relation


def _facets(event: Event) -> Iterator[Flat]:
    if not isinstance(event, DatasetEvent):
        yield from _of(node_id(event.job.name), event.job.facets)
    for one in _mentioned(event):
        yield from _of(node_id(one.name), one.facets)
    if not isinstance(event, RunEvent):
        return
    run = node_id(event.run.name)
    yield from _of(run, event.run.facets)
    for role, datasets in (("input", event.inputs), ("output", event.outputs)):
        for one in datasets:
            yield from _of(run, one.run_facets, role, node_id(one.name))


def _of(subject: int, facets: tuple[Facet, ...], role: str = "", dataset: int = 0) -> Iterator[Flat]:
    for facet in facets:
        yield subject, role, dataset, facet.key, "" if facet.deleted else facet.payload


def _aliases(event: Event) -> Iterator[Flat]:
    for one in _mentioned(event):
        for link in one.symlinks:
            if link.name != one.name:
                yield node_id(one.name), node_id(link.name), link.type


def _set(owner: JobName | DatasetName, one: LineageSet, address: str) -> Flat:
    output = node_id(one.output) if one.output else 0
    return hash64(address), address, node_id(owner), output, one.level.value, one.origin.value


def _edges(one: LineageSet, address: str) -> Iterator[Flat]:
    set_id = hash64(address)
    for ordinal, edge in enumerate(one.edges):
        yield (set_id, ordinal, *_ends(edge), edge.type, edge.subtype, edge.masking, edge.description)


def _ends(edge: Edge) -> tuple[int, int, int, int]:
    return node_id(edge.source), node_id(edge.target), _dataset_id(edge.source), _dataset_id(edge.target)


def _dataset_id(node: Node) -> int:
    match node:
        case FieldName(dataset, _):
            return node_id(dataset)
        case JobName():
            return 0
    return node_id(node)


def _declarer(event: Event) -> int | None:
    match event:
        case JobEvent(job=Job(name=name)):
            return node_id(name)
        case DatasetEvent(dataset=dataset) if any(facet.key == "lineage" for facet in dataset.facets):
            return node_id(dataset.name)
    return None
