"""Flat values of one event, from which the rows of every table are made. Pure; runs in the executors."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.derive.rows.checked_dataset_rows import make_checked_dataset_rows
from whence.derive.rows.dataset_rows import FacetRow, Flat, make_name_row
from whence.derive.rows.facet_rows import PackedFacets, make_sql_facet_row, pack_run_facets
from whence.derive.rows.measurement_rows import make_measurement_rows
from whence.derive.rows.repeated_rows import RepeatedRows, make_repeated_rows
from whence.derive.rows.sql_selection import make_end_rows
from whence.model.events import DatasetEvent, Event, EventKind, Job, JobEvent, RunEvent, RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.lineage_sets.lifecycle import is_dropped_or_renamed


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatEvent:
    """An event as ids and names.

    `run`: id, run id and id of its job; None for other events. `declarer`: the owner of declared lineage. `ends`: it
    decommissions its job. `repeated`: everything that the job's other events assert, too. The tuples:
    - `jobs`: id, namespace, name
    - `containers`: id, run id, id of the job, relation (bits)
    - `facets`: subject, name, hash of the payload, payload
    - `measurements`: dataset, number of role and facet, packed content
    - `checked_datasets`: job, dataset
    """

    event: Event
    subject: int
    run: tuple[int, str, int] | None
    declarer: int | None
    ends: bool
    repeated: RepeatedRows
    jobs: tuple[Flat, ...]
    containers: tuple[Flat, ...]
    facets: tuple[FacetRow, ...]
    run_facets: tuple[PackedFacets, ...]
    measurements: tuple[Flat, ...]
    checked_datasets: tuple[Flat, ...]


def flatten_event(event: Event, *, reads_sql: bool = True) -> FlatEvent:
    """Flatten an event: every name that it mentions, every fact that it asserts."""
    owner = owner_of(event)
    run = event.run if isinstance(event, RunEvent) else None
    containers = _parent_runs(event)
    return FlatEvent(
        event=event,
        subject=node_id(run.name if run else owner),
        run=(node_id(run.name), run.name.run_id, node_id(run.name.job)) if run else None,
        declarer=_declarer(event),
        ends=isinstance(event, JobEvent) and event.job.decommissioned,
        repeated=make_repeated_rows(event, owner, reads_sql=reads_sql),
        jobs=tuple({*_job_rows(event, containers)}),
        containers=tuple(
            (node_id(name), name.run_id, node_id(name.job), relation) for name, relation in containers.items()
        ),
        facets=(*make_sql_facet_row(event), *make_end_rows(event)),
        run_facets=pack_run_facets(event),
        measurements=make_measurement_rows(event),
        checked_datasets=make_checked_dataset_rows(event),
    )


def encode_warnings(event: Event) -> str:
    """The event's warnings as a JSON array; empty if there are none."""
    return json.dumps(event.warnings) if event.warnings else ""


def state_of(event: Event) -> RunState:
    """The state that a run event reports; OTHER for the events that have none."""
    return event.state if isinstance(event, RunEvent) else RunState.OTHER


def kind_of(event: Event) -> EventKind:
    """What the event is about."""
    match event:
        case RunEvent():
            return EventKind.RUN
        case JobEvent():
            return EventKind.JOB
        case DatasetEvent():
            return EventKind.DATASET


def owner_of(event: Event) -> JobName | DatasetName:
    """The owner of the lineage that the event asserts."""
    return event.dataset.name if isinstance(event, DatasetEvent) else event.job.name


def _job_rows(event: Event, containers: Mapping[RunName, int]) -> Iterator[Flat]:
    own = () if isinstance(event, DatasetEvent) else (event.job.name,)
    for name in (*own, *(container.job for container in containers)):
        yield make_name_row(name)


_PARENT, _ROOT = 1, 2


def _parent_runs(event: Event) -> Mapping[RunName, int]:
    """The runs that contain this one, and their relations as bits."""
    if not isinstance(event, RunEvent):
        return {}
    relations: dict[RunName, int] = {}
    for name, relation in ((event.run.parent, _PARENT), (event.run.root, _ROOT)):
        if name is not None and name != event.run.name:
            relations[name] = relations.get(name, 0) | relation
    return relations


def _declarer(event: Event) -> int | None:
    match event:
        case JobEvent(job=Job(name=name)):
            return node_id(name)
        case DatasetEvent(dataset=dataset):
            declares = any(facet.key == "lineage" for facet in dataset.facets) or is_dropped_or_renamed(dataset)
            return node_id(dataset.name) if declares else None
    return None
