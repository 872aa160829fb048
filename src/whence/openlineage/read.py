"""Reading events: lenient, so that nothing a real producer sends is lost; what was passed over becomes a warning.

Refused is only what has no place: no run, job or dataset, no name for it, no time, or a name that no database keeps.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from whence.errors import EventError
from whence.model.events import Dataset, DatasetEvent, Event, Facet, Job, JobEvent, Run, RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority import WITHHELD
from whence.openlineage.columns import column_edges, named_columns
from whence.openlineage.entries import dataset_edges, job_edges, named_fields
from whence.openlineage.facets import (
    Facets,
    alive,
    containers,
    dataset_name,
    facets_of,
    is_decommissioned,
    is_partial,
    is_streaming,
    job_named,
    of_run,
    schema_fields,
    static,
    symlinks,
    uuid,
)
from whence.openlineage.governed import enforce
from whence.openlineage.joining import join
from whence.openlineage.lifecycle import lifecycle
from whence.openlineage.notes import Note, Notes
from whence.openlineage.repeats import FACETS, decode_repeats
from whence.openlineage.times import micros
from whence.openlineage.wire import Json, decode, text_of

_STATES = {state.name: state for state in RunState}


def read_event(event: bytes | Json) -> Event:
    """The event in a body or in its decoded JSON, without what its restriction withholds.

    Raises EventError: 400 no JSON object, 422 no event, 403 nothing of it may be applied.
    """
    if not isinstance(event, dict):
        event = decode(event)
    notes = Notes()
    if WITHHELD in event:
        event = enforce(event, notes)
    run, job, dataset = event.get("run"), event.get("job"), event.get("dataset")
    if run is not None and (job is not None or dataset is None):
        return _run_event(event, notes)
    if job is not None:
        return _job_event(event, notes)
    if dataset is not None:
        return _dataset_event(event, notes)
    raise EventError("", "an event needs a run and a job, a job, or a dataset")


def _run_event(event: Json, notes: Notes) -> RunEvent:
    time, producer = _head(event, notes)
    job = _job(event, notes)
    if event.get("dataset") is not None:
        notes.add("/dataset", "a run event has inputs and outputs; ignored")
    inputs, outputs = _lists(event, notes)
    return RunEvent(
        time=time,
        producer=producer,
        state=_state(event, notes),
        run=_run(event, job.name, notes),
        job=job,
        inputs=inputs,
        outputs=outputs,
        warnings=notes.sorted(),
    )


def _job_event(event: Json, notes: Notes) -> JobEvent:
    time, producer = _head(event, notes)
    job = _job(event, notes)
    inputs, outputs = _lists(event, notes)
    return JobEvent(
        time=time,
        producer=producer,
        job=job,
        inputs=inputs,
        outputs=outputs,
        dataset=_described(event, notes),
        warnings=notes.sorted(),
    )


def _dataset_event(event: Json, notes: Notes) -> DatasetEvent:
    time, producer = _head(event, notes)
    if event.get("run") is not None:
        notes.add("/run", "a dataset event has no run; ignored")
    one = event["dataset"]
    name = dataset_name(one, "/dataset") if type(one) is dict else None
    if name is None:
        raise EventError("/dataset", "a dataset needs a namespace and a name, both non-empty texts")
    facets = facets_of(one, "facets", "/dataset", notes)
    lineage = alive(facets, "lineage")
    edges = dataset_edges(lineage, name, "/dataset/facets/lineage", notes) if lineage is not None else ()
    dataset = replace(_alone(one, name, facets, notes), edges=edges)
    return DatasetEvent(time=time, producer=producer, dataset=dataset, warnings=notes.sorted())


def _head(event: Json, notes: Notes) -> tuple[int, str]:
    for key in ("producer", "schemaURL"):
        if type(event.get(key)) is not str:
            notes.add(f"/{key}", "is missing or no text")
    return _time(event, notes), text_of(event.get("producer"))


def _time(event: Json, notes: Notes) -> int:
    text = event.get("eventTime")
    if type(text) is not str:
        raise EventError("/eventTime", "an event needs a time: an ISO 8601 text")
    try:
        time, has_offset = micros(text)
    except ValueError as error:
        raise EventError("/eventTime", f"{text[:40]!r} is not an ISO 8601 time of the years 1 to 9999") from error
    if not has_offset:
        notes.add("/eventTime", f"{text[:40]!r} has no offset; read as UTC")
    return time


def _state(event: Json, notes: Notes) -> RunState:
    word = event.get("eventType")
    if word is None:
        return RunState.OTHER
    state = _STATES.get(word) if type(word) is str else None
    if state is None:
        notes.add("/eventType", f"{str(word)[:40]!r} is no run state; read as OTHER")
        return RunState.OTHER
    return state


def _run(event: Json, job: JobName, notes: Notes) -> Run:
    run = event["run"]
    if type(run) is not dict:
        raise EventError("/run", "is not an object")
    run_id = uuid(run.get("runId"))
    if run_id is None:
        raise EventError("/run/runId", "a run needs a UUID")
    name = RunName(run_id, job)
    facets = facets_of(run, "facets", "/run", notes)
    parent, root = (_container(one, name, notes) for one in containers(facets, "/run/facets", notes))
    kept = of_run(facets, "/run/facets", notes)
    return Run(name=name, facets=kept, parent=parent, root=root, partial=is_partial(facets))


def _container(container: RunName | None, run: RunName, notes: Notes) -> RunName | None:
    if container == run:
        notes.add("/run/facets/parent", "a run cannot contain itself; cut")
        return None
    return container


def _job(event: Json, notes: Notes) -> Job:
    one = event.get("job")
    if type(one) is not dict:
        raise EventError("/job", "a job must be an object with a namespace and a name")
    for key in ("namespace", "name"):
        if type(one.get(key)) is not str:
            raise EventError(f"/job/{key}", "a job needs a namespace and a name, both texts")
    name = job_named(one, "/job")
    if name is None:
        raise EventError("/job/namespace", "a job needs a namespace that is not empty")
    facets = facets_of(one, "facets", "/job", notes)
    lineage = alive(facets, "lineage")
    edges = job_edges(lineage, name, "/job/facets/lineage", notes) if lineage is not None else None
    return Job(
        name=name,
        facets=static(facets),
        streaming=is_streaming(facets),
        decommissioned=is_decommissioned(facets),
        edges=edges,
        named=named_fields(lineage, name) if lineage is not None else (),
    )


def _lists(event: Json, notes: Notes) -> tuple[tuple[Dataset, ...], tuple[Dataset, ...]]:
    inputs = _datasets(event, "input", notes)
    return inputs, join(_datasets(event, "output", notes), inputs, notes)


class _Wire(msgspec.Struct):
    """An event of which the inputs and outputs are not decoded yet."""

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
    """An input or output. What holds of it reads the same from event to event, what is said of a run does not."""

    namespace: str
    name: str
    facets: msgspec.Raw = msgspec.Raw(b"{}")
    inputFacets: Any = None
    outputFacets: Any = None


_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_listed = msgspec.json.Decoder(_Listed).decode


def read_accepted(payload: bytes) -> Event:
    """The event in a payload that `accept` gave: as `read_event`, but of inputs and outputs that were read before,
    nothing is read again. Raises EventError.
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


def _datasets(event: Json, role: str, notes: Notes) -> tuple[Dataset, ...]:
    some = event.get(f"{role}s")
    if some is None:
        return ()
    if type(some) is not list:
        notes.add(f"/{role}s", "is not a list; ignored")
        return ()
    found = [_listed(one, role, f"/{role}s/{index}", notes) for index, one in enumerate(some)]
    return tuple([one for one in found if one is not None])


def _listed(one: object, role: str, at: str, notes: Notes) -> Dataset | None:
    if type(one) is not msgspec.Raw:
        return _listed_anew(one, role, at, notes)
    try:
        parts = _decode_listed(one)
    except msgspec.ValidationError:
        return _listed_anew(msgspec.json.decode(one), role, at, notes)
    source = bytes(parts.facets)
    read = _hold_once if len(source) < _KEPT_BYTES else _hold
    dataset, warnings = read(parts.namespace, parts.name, source, role, at)
    for pointer, text in warnings:
        notes.add(pointer, text)
    said = {f"{role}Facets": parts.inputFacets if role == "input" else parts.outputFacets}
    facets = _run_facets(said, role, at, notes)
    return replace(dataset, run_facets=facets) if dataset and facets else dataset


_KEPT_BYTES = 32_768
"""Longer facets are read each time, so that strangers' megabytes do not fill the memory."""


def _hold(namespace: str, name: str, source: bytes, role: str, at: str) -> tuple[Dataset | None, tuple[Note, ...]]:
    notes = Notes()
    one = {"namespace": namespace, "name": name, "facets": decode_repeats(source, FACETS)}
    dataset = _listed_anew(one, role, at, notes)
    return replace(dataset, source=source) if dataset else None, notes.taken()


_hold_once = lru_cache(maxsize=4_096)(_hold)


def _listed_anew(one: object, role: str, at: str, notes: Notes) -> Dataset | None:
    name = dataset_name(one, at) if type(one) is dict else None
    if name is None or type(one) is not dict:
        notes.add(at, "a dataset needs a namespace and a name, both non-empty texts; ignored")
        return None
    facets = facets_of(one, "facets", at, notes)
    kept = static(facets)
    return Dataset(
        name=name,
        raw=DatasetName(one["namespace"], one["name"]),
        facets=kept,
        run_facets=_run_facets(one, role, at, notes),
        fields=schema_fields(kept, at, notes),
        symlinks=symlinks(facets, name, f"{at}/facets", notes),
        edges=_column_edges(facets, kept, name, at, notes) if role == "output" else (),
        named=named_columns(alive(facets, "columnLineage") or {}) if role == "output" else (),
        lifecycle=lifecycle(facets, name, at, notes) if role == "output" else None,
    )


def _run_facets(one: Json, role: str, at: str, notes: Notes) -> tuple[Facet, ...]:
    facets = facets_of(one, f"{role}Facets", at, notes)
    return of_run(facets, f"{at}/{role}Facets", notes) if facets else ()


def _column_edges(
    facets: Facets, kept: tuple[Facet, ...], output: DatasetName, at: str, notes: Notes
) -> tuple[Edge, ...]:
    facet = alive(facets, "columnLineage")
    if facet is None:
        return ()
    payload = next(one.payload for one in kept if one.key == "columnLineage")
    return column_edges(payload, facet, output, f"{at}/facets/columnLineage", notes)


def _described(event: Json, notes: Notes) -> Dataset | None:
    one = event.get("dataset")
    if one is None:
        return None
    name = dataset_name(one, "/dataset") if type(one) is dict else None
    if name is None or type(one) is not dict:
        notes.add("/dataset", "a dataset needs a namespace and a name; ignored")
        return None
    notes.add("/dataset", "stands beside a job; read as a job event, with the dataset's facets")
    return _alone(one, name, facets_of(one, "facets", "/dataset", notes), notes)


def _alone(one: Json, name: DatasetName, facets: Facets, notes: Notes) -> Dataset:
    kept = static(facets)
    return Dataset(
        name=name,
        raw=DatasetName(one["namespace"], one["name"]),
        facets=kept,
        fields=schema_fields(kept, "/dataset", notes),
        symlinks=symlinks(facets, name, "/dataset/facets", notes),
        lifecycle=lifecycle(facets, name, "/dataset", notes),
    )
