"""Lenient reading of events: nothing that a real producer sends is lost, and ignored parts become warnings.

Only events without an identity are rejected: those without a run, job or dataset, without its name, without a time, or
with a name that no database can store.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from whence.errors import EventError
from whence.model.events import Dataset, DatasetEvent, Event, Facet, Job, JobEvent, Run, RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.governed_parts import enforce
from whence.openlineage.authority.restrictions import WITHHELD
from whence.openlineage.facets.assertions import ASSERTIONS
from whence.openlineage.facets.column_lineage import list_reported_columns, read_column_edges
from whence.openlineage.facets.explicit_lineage import list_reported_fields, read_dataset_edges, read_job_edges
from whence.openlineage.facets.interpreted_facets import (
    Facets,
    active_facet,
    encode_run_facets,
    encode_static_facets,
    is_decommissioned,
    is_partial,
    is_streaming,
    parse_uuid,
    read_dataset_name,
    read_facets,
    read_job_name,
    read_parents,
    read_schema_fields,
    read_symlinks,
)
from whence.openlineage.facets.measurements import METRICS
from whence.openlineage.facets.source_matching import match_sources
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.interning import FACETS, decode_interned
from whence.openlineage.json.times import parse_micros
from whence.openlineage.json.wire import Json, decode, text_of
from whence.openlineage.lineage_sets.lifecycle import read_lifecycle
from whence.openlineage.names.placeholders import fold_placeholders

_STATES = {state.name: state for state in RunState}


def read_event(event: bytes | Json) -> Event:
    """Read an event from a body or its decoded JSON, without the parts that its restriction withholds.

    Raises EventError: 400 if it is not a JSON object, 422 if it is not an event, 403 if no part of it may be applied.
    """
    if not isinstance(event, dict):
        event = decode(event)
    notes = Notes()
    if WITHHELD in event:
        event = enforce(event, notes)
    run, job, dataset = event.get("run"), event.get("job"), event.get("dataset")
    if run is not None and (job is not None or dataset is None):
        return _read_run_event(event, notes)
    if job is not None:
        return _read_job_event(event, notes)
    if dataset is not None:
        return _read_dataset_event(event, notes)
    raise EventError("", "an event needs a run and a job, a job, or a dataset")


def _read_run_event(event: Json, notes: Notes) -> RunEvent:
    time, producer = _read_header(event, notes)
    job = _read_job(event, notes)
    if event.get("dataset") is not None:
        notes.add("/dataset", "a run event has inputs and outputs; ignored")
    inputs, outputs = _read_inputs_and_outputs(event, notes)
    return RunEvent(
        time=time,
        producer=producer,
        state=_read_state(event, notes),
        run=_read_run(event, job.name, notes),
        job=job,
        inputs=inputs,
        outputs=outputs,
        warnings=notes.sorted(),
    )


def _read_job_event(event: Json, notes: Notes) -> JobEvent:
    time, producer = _read_header(event, notes)
    job = _read_job(event, notes)
    inputs, outputs = _read_inputs_and_outputs(event, notes)
    return JobEvent(
        time=time,
        producer=producer,
        job=job,
        inputs=inputs,
        outputs=outputs,
        dataset=_read_described_dataset(event, notes),
        warnings=notes.sorted(),
    )


def _read_dataset_event(event: Json, notes: Notes) -> DatasetEvent:
    time, producer = _read_header(event, notes)
    if event.get("run") is not None:
        notes.add("/run", "a dataset event has no run; ignored")
    value = event["dataset"]
    name = read_dataset_name(value, "/dataset") if type(value) is dict else None
    if name is None:
        raise EventError("/dataset", "a dataset needs a namespace and a name, both non-empty texts")
    facets = read_facets(value, "facets", "/dataset", notes)
    lineage = active_facet(facets, "lineage")
    edges = read_dataset_edges(lineage, name, "/dataset/facets/lineage", notes) if lineage is not None else ()
    dataset = replace(_make_dataset(value, name, facets, notes), edges=edges)
    return DatasetEvent(time=time, producer=producer, dataset=dataset, warnings=notes.sorted())


def _read_header(event: Json, notes: Notes) -> tuple[int, str]:
    for key in ("producer", "schemaURL"):
        if type(event.get(key)) is not str:
            notes.add(f"/{key}", "is missing or no text")
    return _read_time(event, notes), text_of(event.get("producer"))


def _read_time(event: Json, notes: Notes) -> int:
    text = event.get("eventTime")
    if type(text) is not str:
        raise EventError("/eventTime", "an event needs a time: an ISO 8601 text")
    try:
        time, has_offset = parse_micros(text)
    except ValueError as error:
        raise EventError("/eventTime", f"{text[:40]!r} is not an ISO 8601 time of the years 1 to 9999") from error
    if not has_offset:
        notes.add("/eventTime", f"{text[:40]!r} has no offset; read as UTC")
    return time


def _read_state(event: Json, notes: Notes) -> RunState:
    word = event.get("eventType")
    if word is None:
        return RunState.OTHER
    state = _STATES.get(word) if type(word) is str else None
    if state is None:
        notes.add("/eventType", f"{str(word)[:40]!r} is no run state; read as OTHER")
        return RunState.OTHER
    return state


def _read_run(event: Json, job: JobName, notes: Notes) -> Run:
    run = event["run"]
    if type(run) is not dict:
        raise EventError("/run", "is not an object")
    run_id = parse_uuid(run.get("runId"))
    if run_id is None:
        raise EventError("/run/runId", "a run needs a UUID")
    name = RunName(run_id, job)
    facets = read_facets(run, "facets", "/run", notes)
    parent, root = (_drop_self_reference(one, name, notes) for one in read_parents(facets, job, "/run/facets", notes))
    kept = encode_run_facets(facets, "/run/facets", notes)
    return Run(name=name, facets=kept, parent=parent, root=root, partial=is_partial(facets))


def _drop_self_reference(container: RunName | None, run: RunName, notes: Notes) -> RunName | None:
    if container == run:
        notes.add("/run/facets/parent", "a run cannot contain itself; cut")
        return None
    return container


def _read_job(event: Json, notes: Notes) -> Job:
    value = event.get("job")
    if type(value) is not dict:
        raise EventError("/job", "a job must be an object with a namespace and a name")
    for key in ("namespace", "name"):
        if type(value.get(key)) is not str:
            raise EventError(f"/job/{key}", "a job needs a namespace and a name, both texts")
    name = read_job_name(value, "/job")
    if name is None:
        raise EventError("/job/namespace", "a job needs a namespace that is not empty")
    facets = read_facets(value, "facets", "/job", notes)
    lineage = active_facet(facets, "lineage")
    edges = read_job_edges(lineage, name, "/job/facets/lineage", notes) if lineage is not None else None
    return Job(
        name=name,
        facets=encode_static_facets(facets),
        streaming=is_streaming(facets),
        decommissioned=is_decommissioned(facets),
        edges=edges,
        reported_fields=list_reported_fields(lineage, name) if lineage is not None else (),
    )


def _read_inputs_and_outputs(event: Json, notes: Notes) -> tuple[tuple[Dataset, ...], tuple[Dataset, ...]]:
    inputs = _read_datasets(event, "input", notes)
    outputs = match_sources(_read_datasets(event, "output", notes), inputs, notes)
    return inputs, tuple([fold_placeholders(output) for output in outputs])


class _Wire(msgspec.Struct):
    """An event whose inputs and outputs are not decoded yet."""

    eventType: Any = None
    eventTime: Any = None
    producer: Any = None
    schemaURL: Any = None
    run: Any = None
    job: Any = None
    dataset: Any = None
    whence_withheld: Any = None
    inputs: list[msgspec.Raw] = []
    outputs: list[msgspec.Raw] = []


class _Listed(msgspec.Struct):
    """An input or output. Its static facets repeat from event to event; its run facets do not."""

    namespace: str
    name: str
    facets: msgspec.Raw = msgspec.Raw(b"{}")
    inputFacets: Any = None
    outputFacets: Any = None


_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_listed = msgspec.json.Decoder(_Listed).decode


def read_accepted(payload: bytes) -> Event:
    """Read the event in a payload that `accept` returned: as `read_event`, but inputs and outputs that were read before
    come from a cache. Raises EventError.
    """
    try:
        wire = _decode_wire(payload)
    except msgspec.ValidationError:
        return read_event(payload)
    if wire.whence_withheld is not None:
        return read_event(payload)
    event = msgspec.structs.asdict(wire)
    del event[WITHHELD]
    return read_event(event)


def _read_datasets(event: Json, role: str, notes: Notes) -> tuple[Dataset, ...]:
    values = event.get(f"{role}s")
    if values is None:
        return ()
    if type(values) is not list:
        notes.add(f"/{role}s", "is not a list; ignored")
        return ()
    datasets = [_read_listed(value, role, f"/{role}s/{index}", notes) for index, value in enumerate(values)]
    return tuple([value for value in datasets if value is not None])


def _read_listed(value: object, role: str, at: str, notes: Notes) -> Dataset | None:
    if type(value) is not msgspec.Raw:
        return _read_listed_uncached(value, role, at, notes)
    try:
        parts = _decode_listed(value)
    except msgspec.ValidationError:
        return _read_listed_uncached(msgspec.json.decode(value), role, at, notes)
    source = bytes(parts.facets)
    read = _read_static_parts_cached if len(source) < _KEPT_BYTES else _read_static_parts
    dataset, warnings = read(parts.namespace, parts.name, source, role, at)
    for pointer, text in warnings:
        notes.add(pointer, text)
    entity = {f"{role}Facets": parts.inputFacets if role == "input" else parts.outputFacets}
    facets = _read_run_facets(entity, role, at, notes)
    return replace(dataset, run_facets=_merge_facets(facets, dataset.run_facets)) if dataset and facets else dataset


_KEPT_BYTES = 32_768
"""Longer facets are not cached, so that large events do not fill the memory."""


def _read_static_parts(
    namespace: str, name: str, source: bytes, role: str, at: str
) -> tuple[Dataset | None, tuple[Note, ...]]:
    notes = Notes()
    entity = {"namespace": namespace, "name": name, "facets": decode_interned(source, FACETS)}
    dataset = _read_listed_uncached(entity, role, at, notes)
    return replace(dataset, source=source) if dataset else None, notes.taken()


_read_static_parts_cached = lru_cache(maxsize=4_096)(_read_static_parts)


def _read_listed_uncached(value: object, role: str, at: str, notes: Notes) -> Dataset | None:
    name = read_dataset_name(value, at) if type(value) is dict else None
    if name is None or type(value) is not dict:
        notes.add(at, "a dataset needs a namespace and a name, both non-empty texts; ignored")
        return None
    facets = read_facets(value, "facets", at, notes)
    kept = encode_static_facets(facets)
    return Dataset(
        name=name,
        raw=DatasetName(value["namespace"], value["name"]),
        facets=kept,
        run_facets=_merge_facets(_read_run_facets(value, role, at, notes), _quality_reports(kept)),
        fields=read_schema_fields(kept, at, notes),
        symlinks=read_symlinks(facets, name, f"{at}/facets", notes),
        edges=_read_edges_of_columns(facets, kept, name, at, notes) if role == "output" else (),
        reported_columns=list_reported_columns(active_facet(facets, "columnLineage") or {}) if role == "output" else (),
        lifecycle=read_lifecycle(facets, name, at, notes) if role == "output" else None,
    )


def _read_run_facets(entity: Json, role: str, at: str, notes: Notes) -> tuple[Facet, ...]:
    facets = read_facets(entity, f"{role}Facets", at, notes)
    return encode_run_facets(facets, f"{at}/{role}Facets", notes) if facets else ()


def _quality_reports(facets: tuple[Facet, ...]) -> tuple[Facet, ...]:
    """Check results and metrics among the facets of the dataset: Airflow's provider reports them there."""
    return tuple([facet for facet in facets if facet.key in (ASSERTIONS, METRICS) and not facet.deleted])


def _merge_facets(first: tuple[Facet, ...], second: tuple[Facet, ...]) -> tuple[Facet, ...]:
    keys = {facet.key for facet in first}
    return (*first, *(facet for facet in second if facet.key not in keys))


def _read_edges_of_columns(
    facets: Facets, kept: tuple[Facet, ...], output: DatasetName, at: str, notes: Notes
) -> tuple[Edge, ...]:
    facet = active_facet(facets, "columnLineage")
    if facet is None:
        return ()
    payload = next(kept_facet.payload for kept_facet in kept if kept_facet.key == "columnLineage")
    return read_column_edges(payload, facet, output, f"{at}/facets/columnLineage", notes)


def _read_described_dataset(event: Json, notes: Notes) -> Dataset | None:
    value = event.get("dataset")
    if value is None:
        return None
    name = read_dataset_name(value, "/dataset") if type(value) is dict else None
    if name is None or type(value) is not dict:
        notes.add("/dataset", "a dataset needs a namespace and a name; ignored")
        return None
    notes.add("/dataset", "stands beside a job; read as a job event, with the dataset's facets")
    return _make_dataset(value, name, read_facets(value, "facets", "/dataset", notes), notes)


def _make_dataset(entity: Json, name: DatasetName, facets: Facets, notes: Notes) -> Dataset:
    kept = encode_static_facets(facets)
    return Dataset(
        name=name,
        raw=DatasetName(entity["namespace"], entity["name"]),
        facets=kept,
        fields=read_schema_fields(kept, "/dataset", notes),
        symlinks=read_symlinks(facets, name, "/dataset/facets", notes),
        lifecycle=read_lifecycle(facets, name, "/dataset", notes),
    )
