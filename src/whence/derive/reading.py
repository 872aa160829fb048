"""One record of the log as flat values: what the rows of every table are made from. Pure; runs in Arrow batches in
the executors.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.derive.dataset_rows import Flat, dataset_rows, named
from whence.derive.enrichment import ended
from whence.derive.facet_rows import mentioned, run_facets, static_facets
from whence.derive.lineage_rows import weave
from whence.errors import EventError
from whence.log import Kind as RecordKind
from whence.log import Record
from whence.model.events import DatasetEvent, Event, EventKind, Job, JobEvent, RunEvent, RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.lifecycle import ends_or_renames
from whence.openlineage.read import read_accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an event says, in ids and names; the tuples' columns are those of `schema.LISTS`."""

    event: Event
    subject: int
    run: tuple[int, str, int] | None
    version: int
    declarer: int | None
    ends: bool
    datasets: tuple[Flat, ...]
    jobs: tuple[Flat, ...]
    containers: tuple[Flat, ...]
    facets: tuple[Flat, ...]
    run_facets: tuple[Flat, ...]
    aliases: tuple[Flat, ...]
    schemas: tuple[Flat, ...]
    sets: tuple[Flat, ...]


def read_record(record: Record, *, reads_sql: bool = True) -> Said | str | None:
    """What the record's event says, with `reads_sql` what its SQL says too; the reason why it cannot be read; or None
    for a record that is no event of its own.
    """
    match record.kind:
        case RecordKind.RECEIPT:
            return None
        case RecordKind.QUARANTINED:
            return f"{record.pointer or '/'}: {record.reason}"
    try:
        return say(read_accepted(record.payload), reads_sql=reads_sql)
    except EventError as error:
        return str(error)


def say(event: Event, *, reads_sql: bool = True) -> Said:
    """Flatten an event: every name that it mentions, every fact that it states."""
    owner = owner_of(event)
    woven = weave(event, owner, reads_sql=reads_sql)
    run = event.run if isinstance(event, RunEvent) else None
    containers = _containers(event)
    said = [dataset_rows(one) for one in mentioned(event)]
    return Said(
        event=event,
        subject=node_id(run.name if run else owner),
        run=(node_id(run.name), run.name.run_id, node_id(run.name.job)) if run else None,
        version=woven.version,
        declarer=_declarer(event),
        ends=isinstance(event, JobEvent) and event.job.decommissioned,
        datasets=tuple({*woven.datasets, *(row for one in said for row in one.datasets)}),
        jobs=tuple({*woven.jobs, *_jobs(event, containers)}),
        containers=tuple((node_id(name), name.run_id, node_id(name.job), how) for name, how in containers.items()),
        facets=(*static_facets(event, said), *woven.facets, *ended(event)),
        run_facets=run_facets(event),
        aliases=tuple({row for one in said for row in one.aliases}),
        schemas=tuple({row for one in said for row in one.schemas}),
        sets=woven.sets,
    )


def warnings_text(event: Event) -> str:
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
    """Whose lineage the event speaks of."""
    return event.dataset.name if isinstance(event, DatasetEvent) else event.job.name


def _jobs(event: Event, containers: Mapping[RunName, int]) -> Iterator[Flat]:
    own = () if isinstance(event, DatasetEvent) else (event.job.name,)
    for name in (*own, *(container.job for container in containers)):
        yield named(name)


_PARENT, _ROOT = 1, 2


def _containers(event: Event) -> Mapping[RunName, int]:
    """The runs that contain this one, and how, in bits."""
    if not isinstance(event, RunEvent):
        return {}
    found: dict[RunName, int] = {}
    for name, relation in ((event.run.parent, _PARENT), (event.run.root, _ROOT)):
        if name is not None and name != event.run.name:
            found[name] = found.get(name, 0) | relation
    return found


def _declarer(event: Event) -> int | None:
    match event:
        case JobEvent(job=Job(name=name)):
            return node_id(name)
        case DatasetEvent(dataset=dataset):
            declares = any(facet.key == "lineage" for facet in dataset.facets) or ends_or_renames(dataset)
            return node_id(dataset.name) if declares else None
    return None
