"""Lenient reading of events: nothing that a real producer sends is lost, and ignored parts become warnings.

Only events without an identity are rejected: those without a run, job or dataset, without its name, without a time, or
with a name that no database can store.
"""

from dataclasses import replace
from functools import lru_cache

import msgspec
from msgspec import UNSET

from whence.errors import EventError
from whence.model.events import Dataset, DatasetEvent, Event, Job, JobEvent, Run, RunEvent, RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.governed_parts import enforce
from whence.openlineage.authority.restrictions import WITHHELD
from whence.openlineage.datasets import read_inputs_and_outputs, read_split_inputs_and_outputs
from whence.openlineage.facets.error_messages import is_partial
from whence.openlineage.facets.explicit_lineage import list_reported_fields, read_dataset_edges, read_job_edges
from whence.openlineage.facets.facets import Facets, active_facet, encode_run_facets, encode_static_facets, read_facets
from whence.openlineage.facets.job_type import is_decommissioned, is_streaming
from whence.openlineage.facets.parent_run import read_parents
from whence.openlineage.facets.schema_fields import read_schema_fields
from whence.openlineage.facets.symlinks import read_symlinks
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.split_event import PartKey, SplitEvent, WireEvent, split_event
from whence.openlineage.json.times import parse_micros
from whence.openlineage.json.wire import Json, decode, text_of
from whence.openlineage.lineage_sets.column_evidence import list_incomplete_columns
from whence.openlineage.lineage_sets.lifecycle import read_lifecycle
from whence.openlineage.names.entity_names import read_dataset_name, read_job_name
from whence.openlineage.names.producer_paths import has_corrected_paths
from whence.openlineage.names.run_ids import parse_uuid
from whence.openlineage.run_facets import read_run_facets, read_split_parents

_NO_RUN_ID = "a run needs a UUID"
_NO_TEXT = "is missing or no text"
_CACHED_BYTES = 16_384
"""The results of longer job facets are not cached, so that large events do not fill the memory."""

_decode = msgspec.json.Decoder().decode
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
    inputs, outputs = read_inputs_and_outputs(event, notes)
    return RunEvent(
        time=time,
        producer=producer,
        state=_read_state(event.get("eventType"), notes),
        run=_read_run(event, job.name, notes),
        job=job,
        inputs=inputs,
        outputs=outputs,
        warnings=notes.sorted(),
    )


def _read_job_event(event: Json, notes: Notes) -> JobEvent:
    time, producer = _read_header(event, notes)
    job = _read_job(event, notes)
    inputs, outputs = read_inputs_and_outputs(event, notes)
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
    incomplete = list_incomplete_columns(facets) if lineage is not None else ()
    dataset = replace(_make_dataset(value, name, facets, notes), edges=edges, incomplete_columns=incomplete)
    return DatasetEvent(time=time, producer=producer, dataset=dataset, warnings=notes.sorted())


def _read_header(event: Json, notes: Notes) -> tuple[int, str]:
    producer = event.get("producer")
    _require_texts(producer, event.get("schemaURL"), notes)
    return _read_time(event.get("eventTime"), notes), text_of(producer)


def _require_texts(producer: object, schema_url: object, notes: Notes) -> None:
    if type(producer) is not str:
        notes.add("/producer", _NO_TEXT)
    if type(schema_url) is not str:
        notes.add("/schemaURL", _NO_TEXT)


def _read_time(text: object, notes: Notes) -> int:
    if type(text) is not str:
        raise EventError("/eventTime", "an event needs a time: an ISO 8601 text")
    try:
        time, has_offset = parse_micros(text)
    except ValueError as error:
        raise EventError("/eventTime", f"{text[:40]!r} is not an ISO 8601 time of the years 1 to 9999") from error
    if not has_offset:
        notes.add("/eventTime", f"{text[:40]!r} has no offset; read as UTC")
    return time


def _read_state(word: object, notes: Notes) -> RunState:
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
        raise EventError("/run/runId", _NO_RUN_ID)
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
    name, facets, edges = _read_job_lineage(event.get("job"), notes)
    lineage = active_facet(facets, "lineage")
    return Job(
        name=name,
        facets=encode_static_facets(facets),
        streaming=is_streaming(facets),
        decommissioned=is_decommissioned(facets),
        edges=edges,
        reported_fields=list_reported_fields(lineage, name) if lineage is not None else (),
    )


def check_job(value: Json, notes: Notes) -> None:
    """Collect the warnings about a job. Raises EventError."""
    _read_job_lineage(value, notes)


def _read_job_lineage(value: object, notes: Notes) -> tuple[JobName, Facets, tuple[Edge, ...] | None]:
    """Read a job's name, its facets, and the edges of its lineage facet if it has one."""
    if not isinstance(value, dict):
        raise EventError("/job", "a job must be an object with a namespace and a name")
    for key in ("namespace", "name"):
        if type(value.get(key)) is not str:
            raise EventError(f"/job/{key}", "a job needs a namespace and a name, both texts")
    name = read_job_name(value, "/job")
    if name is None:
        raise EventError("/job/namespace", "a job needs a namespace that is not empty")
    facets = read_facets(value, "facets", "/job", notes)
    lineage = active_facet(facets, "lineage")
    return name, facets, None if lineage is None else read_job_edges(lineage, name, "/job/facets/lineage", notes)


def read_accepted(payload: bytes) -> Event:
    """Read the event in a payload that `accept` returned: as `read_event`, but with what is known from other events.

    Raises EventError.
    """
    split = split_event(payload)
    return read_event(payload) if split is None else read_split(split, payload)


def read_split(split: SplitEvent, body: bytes) -> Event:
    """Read a split event, whose body this is. Raises EventError."""
    if has_corrected_paths(split):
        return read_event(body)
    try:
        return _read_split_event(split)
    except EventError:
        return read_event(body)  # of several errors, the same one is reported however an event is read


def _read_split_event(split: SplitEvent) -> RunEvent:
    notes = Notes()
    time, producer, state = read_split_header(split.wire, notes)
    job, warnings = _read_split_job(split.job)
    notes.add_all(warnings)
    inputs, outputs = read_split_inputs_and_outputs(split, notes)
    return RunEvent(
        time=time,
        producer=producer,
        state=state,
        run=_read_split_run(split, job.name, notes),
        job=job,
        inputs=inputs,
        outputs=outputs,
        warnings=notes.sorted(),
    )


def read_split_header(wire: WireEvent, notes: Notes) -> tuple[int, str, RunState]:
    """Read time, producer and state of a split event. Raises EventError."""
    _require_texts(wire.producer, wire.schemaURL, notes)
    state = _read_state(None if wire.eventType is UNSET else wire.eventType, notes)
    return _read_time(wire.eventTime, notes), text_of(wire.producer), state


def read_split_names(split: SplitEvent, job: JobName, notes: Notes) -> tuple[RunName, RunName | None, RunName | None]:
    """Read the names of a run of this job, its parent and its root. Raises EventError."""
    run_id = parse_uuid(split.wire.run.runId)
    if run_id is None:
        raise EventError("/run/runId", _NO_RUN_ID)
    name = RunName(run_id, job)
    parent, root = read_split_parents(split.run_facets, job, notes)
    return name, _drop_self_reference(parent, name, notes), _drop_self_reference(root, name, notes)


def _read_split_run(split: SplitEvent, job: JobName, notes: Notes) -> Run:
    name, parent, root = read_split_names(split, job, notes)
    read = read_run_facets(split.run_facets, ("/run", "facets"), notes)
    facets = tuple([facet for one in read for facet in one.facets])
    return Run(name=name, facets=facets, parent=parent, root=root, partial=any(one.partial for one in read))


def _read_split_job(key: PartKey) -> tuple[Job, tuple[Note, ...]]:
    return (_read_job_cached if len(key[2]) < _CACHED_BYTES else _read_job_part)(*key)


def _read_job_part(namespace: str, name: str, facets: bytes) -> tuple[Job, tuple[Note, ...]]:
    notes = Notes()
    job = _read_job({"job": {"namespace": namespace, "name": name, "facets": _decode(facets or b"{}")}}, notes)
    return job, notes.taken()


_read_job_cached = lru_cache(maxsize=1_024)(_read_job_part)


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
