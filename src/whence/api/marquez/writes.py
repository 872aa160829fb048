"""Writes of Marquez clients: each becomes an event in the log. The answer shows the future state, whether or not the
store has the event yet.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from whence.api.catalog.assertions import Now, now_micros, producer_of, read, scribe_of
from whence.api.http.path_names import Segment
from whence.api.http.responses import MISSING, answer
from whence.api.marquez import bodies, response_types, responses
from whence.api.marquez import lookup as gather
from whence.api.marquez import search as finding
from whence.api.requests.catalog import CatalogView
from whence.errors import EventError, ThingNotFoundError
from whence.govern.assertions import Subject, add_tag, assert_facets, make_end_facets, remove_tag
from whence.model.catalog import Entry, EntryFilter, RegistryKind, RunDatasets, Window
from whence.model.events import RunState
from whence.model.ids import Kind
from whence.model.names import DatasetName, JobName
from whence.openlineage.json.times import LAST
from whence.openlineage.names.naming import normalise_job
from whence.openlineage.write import dataset, job_event, replace_producer, run_event

routes = APIRouter(
    prefix="/api/v1",
    tags=["marquez"],
    responses=MISSING,
)

Json = dict[str, Any]
MOST_DELETED = 10_000
"""The most datasets and jobs of a namespace that one request may delete."""


@routes.put("/namespaces/{namespace}", response_model=response_types.MarquezNamespace)
async def put_namespace(request: Request, namespace: Segment, body: bodies.NamespaceBody) -> Response:
    """Set the owner and description of a namespace."""
    facets = bodies.namespace_facets(body)
    await scribe_of(request).assert_facets(request, RegistryKind.NAMESPACE.dataset_of(namespace), lambda _: facets)
    return answer(await read(request, lambda view: gather.space_document(view, namespace)))


@routes.delete("/namespaces/{namespace}", response_model=response_types.MarquezNamespace)
async def delete_namespace(request: Request, namespace: Segment) -> Response:
    """Hide a namespace with all datasets and jobs in it, each until an event mentions it."""
    before = await read(request, lambda view: gather.space_document(view, namespace))
    events = await read(request, lambda view: _ends(request, view, namespace))
    await scribe_of(request).say(request, events)
    return answer({**before, "isHidden": True})


@routes.put("/sources/{source}", response_model=response_types.Source, deprecated=True)
async def put_source(request: Request, source: Segment, body: bodies.SourceBody) -> Response:
    """Declare a data source."""
    facets = bodies.source_facets(source, body)
    await scribe_of(request).assert_facets(request, RegistryKind.SOURCE.dataset_of(source), lambda _: facets)
    return answer(await read(request, lambda view: gather.source_named(view, source)))


@routes.put("/tags/{tag}", response_model=response_types.MarquezTag)
async def put_tag(request: Request, tag: Segment, body: bodies.TagBody) -> Response:
    """Describe a tag."""
    facets = bodies.tag_facets(body)
    await scribe_of(request).assert_facets(request, RegistryKind.TAG.dataset_of(tag), lambda _: facets)
    return answer(await read(request, lambda view: finding.tag_document(view, tag)))


@routes.put("/namespaces/{namespace}/datasets/{dataset}", response_model=response_types.MarquezDataset, deprecated=True)
async def put_dataset(request: Request, namespace: Segment, dataset: Segment, body: bodies.DatasetBody) -> Response:
    """Declare a dataset; with `runId`, also that this run wrote it."""
    name = gather.normal(namespace, dataset)

    def events(now: Now) -> list[Json]:
        gather.require_source(now.view, body.sourceName)
        facets = bodies.dataset_facets(body, gather.connection_of(now.view, body.sourceName), now.facets)
        event = assert_facets(name, now.at, producer_of(request), facets)
        return [event, *([_written(request, now, body.runId, name)] if body.runId else [])]

    await scribe_of(request).change(request, name, events)
    return answer(await read(request, lambda view: _dataset(view, name)))


@routes.delete("/namespaces/{namespace}/datasets/{dataset}", response_model=response_types.MarquezDataset)
async def delete_dataset(request: Request, namespace: Segment, dataset: Segment) -> Response:
    """Hide a dataset until an event mentions it."""
    one = await read(request, lambda view: gather.whole_dataset_named(view, namespace, dataset))
    await scribe_of(request).change(
        request, one.name, lambda now: [_end(request, one.name, now.at, one.entry.last_seen)]
    )
    return answer({**responses.dataset_document(one), "deleted": True})


@routes.post("/namespaces/{namespace}/datasets/{dataset}/tags/{tag}", response_model=response_types.MarquezDataset)
async def tag_dataset(request: Request, namespace: Segment, dataset: Segment, tag: Segment) -> Response:
    """Tag a dataset."""
    return await _tag_dataset(request, namespace, dataset, lambda name, facets: add_tag(name, facets, tag))


@routes.delete("/namespaces/{namespace}/datasets/{dataset}/tags/{tag}", response_model=response_types.MarquezDataset)
async def untag_dataset(request: Request, namespace: Segment, dataset: Segment, tag: Segment) -> Response:
    """Remove a tag from a dataset."""
    return await _tag_dataset(request, namespace, dataset, lambda name, facets: remove_tag(name, facets, tag))


@routes.post(
    "/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}", response_model=response_types.MarquezDataset
)
async def tag_field(request: Request, namespace: Segment, dataset: Segment, field: Segment, tag: Segment) -> Response:
    """Tag a column."""
    change = lambda name, facets: add_tag(name, facets, tag, field=field)  # noqa: E731
    return await _tag_dataset(request, namespace, dataset, change, field)


@routes.delete(
    "/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}", response_model=response_types.MarquezDataset
)
async def untag_field(request: Request, namespace: Segment, dataset: Segment, field: Segment, tag: Segment) -> Response:
    """Remove a tag from a column."""
    change = lambda name, facets: remove_tag(name, facets, tag, field)  # noqa: E731
    return await _tag_dataset(request, namespace, dataset, change, field)


@routes.put("/namespaces/{namespace}/jobs/{job}", response_model=response_types.MarquezJob, deprecated=True)
async def put_job(request: Request, namespace: Segment, job: Segment, body: bodies.JobBody) -> Response:
    """Declare a job with its inputs and outputs."""
    name = normalise_job(namespace, job)
    inputs, outputs = bodies.ends(body.inputs), bodies.ends(body.outputs)

    def events(now: Now) -> list[Json]:
        _check_job(now.view, name, body)
        event = job_event(now.at, name, facets=dict(bodies.job_facets(body)), inputs=inputs, outputs=outputs)
        return [replace_producer(producer_of(request), event)]

    await scribe_of(request).change(request, name, events)
    return answer(await read(request, lambda view: _job(view, name)))


@routes.delete("/namespaces/{namespace}/jobs/{job}", response_model=response_types.MarquezJob)
async def delete_job(request: Request, namespace: Segment, job: Segment) -> Response:
    """End a job: it is hidden, and its lineage ends, until it runs or is declared again."""
    one = await read(request, lambda view: gather.job_named(view, namespace, job))
    await scribe_of(request).change(
        request, one.name, lambda now: [_end(request, one.name, now.at, one.entry.last_seen)]
    )
    return answer(responses.job_document(one))


@routes.post("/namespaces/{namespace}/jobs/{job}/tags/{tag}", response_model=response_types.MarquezJob)
async def tag_job(request: Request, namespace: Segment, job: Segment, tag: Segment) -> Response:
    """Tag a job."""
    return await _tag_job(request, namespace, job, lambda name, facets: add_tag(name, facets, tag))


@routes.delete("/namespaces/{namespace}/jobs/{job}/tags/{tag}", response_model=response_types.MarquezJob)
async def untag_job(request: Request, namespace: Segment, job: Segment, tag: Segment) -> Response:
    """Remove a tag from a job."""
    return await _tag_job(request, namespace, job, lambda name, facets: remove_tag(name, facets, tag))


async def _tag_dataset(
    request: Request,
    namespace: str,
    dataset: str,
    change: Callable[[Subject, Mapping[str, Any]], Json],
    field: str | None = None,
) -> Response:
    one = await read(request, lambda view: gather.whole_dataset_named(view, namespace, dataset))
    if field is not None and field not in {known.name for known in one.fields}:
        raise ThingNotFoundError("Field", field)
    name = one.name
    await scribe_of(request).assert_facets(request, name, lambda now: {"tags": change(name, now.facets)})
    return answer(await read(request, lambda view: _dataset(view, name)))


async def _tag_job(
    request: Request, namespace: str, job: str, change: Callable[[Subject, Mapping[str, Any]], Json]
) -> Response:
    name = (await read(request, lambda view: gather.job_named(view, namespace, job))).name
    await scribe_of(request).assert_facets(request, name, lambda now: {"tags": change(name, now.facets)})
    return answer(await read(request, lambda view: _job(view, name)))


def _dataset(view: CatalogView, name: DatasetName) -> response_types.MarquezDataset:
    return responses.dataset_document(gather.whole_dataset_named(view, name.namespace, name.name))


def _job(view: CatalogView, name: JobName) -> response_types.MarquezJob:
    return responses.job_document(gather.job_named(view, name.namespace, name.name))


def _end(request: Request, name: Subject, now: int, last_seen: int) -> Json:
    # Not before any report about it, else it would stay.
    return assert_facets(name, min(max(now, last_seen), LAST), producer_of(request), make_end_facets(name))


def _ends(request: Request, view: CatalogView, namespace: str) -> list[Json]:
    now, window = now_micros(), Window(limit=MOST_DELETED + 1)
    found = [
        one
        for kind in (Kind.DATASET, Kind.JOB)
        for one in view.catalog.listed(kind, EntryFilter(namespace=namespace), window)
    ]
    found += _pending_in(view, namespace, {one.id for one in found})
    if len(found) > MOST_DELETED:
        raise EventError("", f"more than {MOST_DELETED:,} things are in this namespace; delete them first", 422)
    registered = RegistryKind.NAMESPACE.dataset_of(namespace)
    if view.catalog.registry([registered]):
        return [_end(request, registered, now, 0), *(_end(request, one.name, now, one.last_seen) for one in found)]
    return [_end(request, one.name, now, one.last_seen) for one in found]


def _pending_in(view: CatalogView, namespace: str, known: Collection[int]) -> list[Entry]:
    """Entries of a namespace that people created and that the store does not list yet."""
    names = view.pending.names().items()
    ids = [id_ for id_, one in names if isinstance(one, DatasetName | JobName) and one.namespace == namespace]
    gone = view.catalog.deleted(ids)
    return [one for id_, one in view.catalog.entries(ids).items() if id_ not in gone and id_ not in known]


def _written(request: Request, now: Now, run_id: str, name: DatasetName) -> Json:
    """An event that adds a dataset to a run's outputs. It repeats the rest, since an event has a complete lineage."""
    run = gather.run_entry(now.view, run_id)
    inputs, outputs = _touched(now.view, run.id)
    read, written = _objects(inputs), _objects({*outputs, name})
    return replace_producer(
        producer_of(request), run_event(now.at, RunState.OTHER, run.name, inputs=read, outputs=written)
    )


def _touched(view: CatalogView, run: int) -> tuple[list[DatasetName], list[DatasetName]]:
    """The visible inputs and outputs of a run."""
    found = view.catalog.touched([run]).get(run, RunDatasets(0, (), ()))
    names = {id_: one.name for id_, one in view.catalog.entries((*found.inputs, *found.outputs)).items()}
    inputs, outputs = (
        [name for id_ in some if isinstance(name := names.get(id_), DatasetName)]
        for some in (found.inputs, found.outputs)
    )
    return inputs, outputs


def _objects(names: Iterable[DatasetName]) -> list[Json]:
    return [dataset(one) for one in sorted(names)]


def _check_job(view: CatalogView, name: JobName, body: bodies.JobBody) -> None:
    """Raises ThingNotFoundError if a job's inputs or outputs are unknown, or the run is not its own."""
    for one in (*body.inputs, *body.outputs):
        gather.require_dataset(view, one.namespace, one.name)
    if body.runId is not None and gather.run_entry(view, body.runId).name.job != name:
        raise ThingNotFoundError("Run", body.runId)
