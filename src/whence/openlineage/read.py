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
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.governed_parts import enforce
from whence.openlineage.authority.restrictions import WITHHELD
from whence.openlineage.datasets import Datasets, read_inputs_and_outputs, read_split_inputs_and_outputs
from whence.openlineage.facets.error_messages import is_partial
from whence.openlineage.facets.explicit_lineage import list_reported_fields, read_dataset_edges, read_job_edges
from whence.openlineage.facets.facets import Facets, active_facet, encode_run_facets, encode_static_facets, read_facets
from whence.openlineage.facets.job_type import is_decommissioned, is_streaming
from whence.openlineage.facets.parent_run import read_parents
from whence.openlineage.facets.schema_fields import read_schema_fields
from whence.openlineage.facets.symlinks import read_symlinks
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.split_event import SplitEvent, SplitJob, source_of, split_event
from whence.openlineage.json.times import parse_micros
from whence.openlineage.json.wire import Json, decode, text_of
from whence.openlineage.lineage_sets.lifecycle import read_lifecycle
from whence.openlineage.names.entity_names import read_dataset_name, read_job_name
from whence.openlineage.names.run_ids import parse_uuid

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
    header = _read_header(event, notes)
    job = _read_job(event, notes)
    if event.get("dataset") is not None:
        notes.add("/dataset", "a run event has inputs and outputs; ignored")
    return _make_run_event(event, header, job, read_inputs_and_outputs(event, notes), notes)


def _make_run_event(
    event: Json, header: tuple[int, str], job: Job, datasets: tuple[Datasets, Datasets], notes: Notes
) -> RunEvent:
    (time, producer), (inputs, outputs) = header, datasets
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


def read_accepted(payload: bytes) -> Event:
    """Read the event in a payload that `accept` returned: as `read_event`, but with what is known from other events.

    Raises EventError.
    """
    split = split_event(payload)
    return read_event(payload) if split is None else read_split(split, payload)


def read_split(split: SplitEvent, body: bytes) -> Event:
    """Read a split event, whose body this is. Raises EventError."""
    notes = Notes()
    try:
        event = _describe(split)
        header = _read_header(event, notes)
        job, warnings = _read_split_job(split.job)
        notes.add_all(warnings)
        return _make_run_event(event, header, job, read_split_inputs_and_outputs(split, notes), notes)
    except EventError:
        return read_event(body)  # of several errors, the same one is reported however an event is read


def _describe(split: SplitEvent) -> Json:
    """The members of a split event that are not repeated."""
    texts = {
        "eventTime": split.eventTime,
        "eventType": split.eventType,
        "producer": split.producer,
        "schemaURL": split.schemaURL,
    }
    event: Json = {name: text for name, text in texts.items() if text is not UNSET}
    event["run"] = {"runId": split.run.runId, "facets": _decode(source_of(split.run.facets) or b"{}")}
    return event


def _read_split_job(job: SplitJob) -> tuple[Job, tuple[Note, ...]]:
    facets = source_of(job.facets) or b"{}"
    return (_read_job_cached if len(facets) < _CACHED_BYTES else _read_job_parts)(job.namespace, job.name, facets)


def _read_job_parts(namespace: str, name: str, facets: bytes) -> tuple[Job, tuple[Note, ...]]:
    notes = Notes()
    job = _read_job({"job": {"namespace": namespace, "name": name, "facets": _decode(facets)}}, notes)
    return job, notes.taken()


_read_job_cached = lru_cache(maxsize=1_024)(_read_job_parts)


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
