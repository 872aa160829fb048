"""What clients of Marquez write: each becomes an event in the log. 202: the store does not have it yet."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Request, Response

from whence.api.answers import MISSING, answer
from whence.api.asserting import Asserted, Now, now_micros, producer_of, read, scribe_of
from whence.api.cataloguing import Catalogued
from whence.api.marquez import bodies, finding, gather, shapes
from whence.api.needs import needs
from whence.api.paths import Plain, Segment
from whence.errors import EventError
from whence.govern.assertions import Subject, assert_facets, ended, tagged, untagged
from whence.model.access import Action
from whence.model.catalog import Registered, Wanted, Window
from whence.model.events import RunState
from whence.model.ids import Kind
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.facets import uuid
from whence.openlineage.times import LAST, micros
from whence.openlineage.write import dataset, job_event, run_event, said_by

routes = APIRouter(
    prefix="/api/v1",
    tags=["marquez"],
    responses={**MISSING, 202: {"description": "it is durable, and not yet in the store"}},
)

Json = dict[str, Any]
MOST_DELETED = 10_000
"""Things of a namespace that one request may delete."""


@routes.put("/namespaces/{namespace}")
async def put_namespace(request: Request, namespace: Segment, body: bodies.NamespaceBody) -> Response:
    """Say who owns a namespace, and what it is."""
    facets = bodies.namespace_facets(body)
    asserted = await scribe_of(request).assert_facets(request, Registered.NAMESPACE.of(namespace), lambda _: facets)
    return await _told(request, asserted, lambda asked: gather.space_document(asked, namespace))


@routes.delete("/namespaces/{namespace}")
async def delete_namespace(request: Request, namespace: Segment) -> Response:
    """Hide a namespace with all datasets and jobs in it, each until an event speaks of it again."""
    before = await read(request, lambda asked: gather.space_document(asked, namespace))
    events = await read(request, lambda asked: _ends(request, asked, namespace))
    asserted = await scribe_of(request).say(request, events)
    return answer({**before, "isHidden": True}, _status(asserted))


@routes.put("/sources/{source}", deprecated=True)
async def put_source(request: Request, source: Segment, body: bodies.SourceBody) -> Response:
    """Say what a data source is."""
    facets = bodies.source_facets(source, body)
    asserted = await scribe_of(request).assert_facets(request, Registered.SOURCE.of(source), lambda _: facets)
    return await _told(request, asserted, lambda asked: gather.source_named(asked, source))


@routes.put("/tags/{tag}")
async def put_tag(request: Request, tag: Segment, body: bodies.TagBody) -> Response:
    """Say what a tag means."""
    facets = bodies.tag_facets(body)
    asserted = await scribe_of(request).assert_facets(request, Registered.TAG.of(tag), lambda _: facets)
    return await _told(request, asserted, lambda asked: finding.tag_document(asked, tag))


@routes.put("/namespaces/{namespace}/datasets/{dataset}", deprecated=True)
async def put_dataset(request: Request, namespace: Segment, dataset: Segment, body: bodies.DatasetBody) -> Response:
    """Say what a dataset is; with `runId`, that this run wrote it."""
    name = gather.normal(namespace, dataset)

    def events(now: Now) -> list[Json]:
        connection = gather.connection_of(now.asked, body.sourceName)
        said = assert_facets(name, now.at, producer_of(request), bodies.dataset_facets(body, connection))
        return [said, *([_written(request, now, body.runId, name)] if body.runId else [])]

    asserted = await scribe_of(request).change(request, name, events)
    return await _told(request, asserted, lambda asked: _dataset(asked, name))


@routes.delete("/namespaces/{namespace}/datasets/{dataset}")
async def delete_dataset(request: Request, namespace: Segment, dataset: Segment) -> Response:
    """Hide a dataset until an event speaks of it again."""
    one = await read(request, lambda asked: gather.dataset_named(asked, namespace, dataset))
    asserted = await scribe_of(request).change(
        request, one.name, lambda now: [_end(request, one.name, now.at, one.entry.last_seen)]
    )
    return answer({**shapes.dataset_document(one), "deleted": True}, _status(asserted))


@routes.post("/namespaces/{namespace}/datasets/{dataset}/tags/{tag}")
async def tag_dataset(request: Request, namespace: Segment, dataset: Segment, tag: Segment) -> Response:
    """Tag a dataset."""
    return await _tag_dataset(request, namespace, dataset, lambda name, facets: tagged(name, facets, tag))


@routes.delete("/namespaces/{namespace}/datasets/{dataset}/tags/{tag}")
async def untag_dataset(request: Request, namespace: Segment, dataset: Segment, tag: Segment) -> Response:
    """Take a tag off a dataset."""
    return await _tag_dataset(request, namespace, dataset, lambda name, facets: untagged(name, facets, tag))


@routes.post("/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}")
async def tag_field(request: Request, namespace: Segment, dataset: Segment, field: Segment, tag: Segment) -> Response:
    """Tag a column."""
    change = lambda name, facets: tagged(name, facets, tag, field=field)  # noqa: E731
    return await _tag_dataset(request, namespace, dataset, change)


@routes.delete("/namespaces/{namespace}/datasets/{dataset}/fields/{field}/tags/{tag}")
async def untag_field(request: Request, namespace: Segment, dataset: Segment, field: Segment, tag: Segment) -> Response:
    """Take a tag off a column."""
    return await _tag_dataset(request, namespace, dataset, lambda name, facets: untagged(name, facets, tag, field))


@routes.put("/namespaces/{namespace}/jobs/{job}", deprecated=True)
async def put_job(request: Request, namespace: Segment, job: Segment, body: bodies.JobBody) -> Response:
    """Declare a job with its inputs and outputs."""
    name = gather.job_name(namespace, job)
    inputs, outputs = bodies.ends(body.inputs), bodies.ends(body.outputs)

    def events(now: Now) -> list[Json]:
        said = job_event(now.at, name, facets=dict(bodies.job_facets(body)), inputs=inputs, outputs=outputs)
        return [said_by(producer_of(request), said)]

    asserted = await scribe_of(request).change(request, name, events)
    return await _told(request, asserted, lambda asked: _job(asked, name))


@routes.delete("/namespaces/{namespace}/jobs/{job}")
async def delete_job(request: Request, namespace: Segment, job: Segment) -> Response:
    """End a job: it is hidden, and its lineage ends, until it runs or is declared again."""
    one = await read(request, lambda asked: gather.job_named(asked, namespace, job))
    asserted = await scribe_of(request).change(
        request, one.name, lambda now: [_end(request, one.name, now.at, one.entry.last_seen)]
    )
    return answer(shapes.job_document(one), _status(asserted))


@routes.post("/namespaces/{namespace}/jobs/{job}/tags/{tag}")
async def tag_job(request: Request, namespace: Segment, job: Segment, tag: Segment) -> Response:
    """Tag a job."""
    return await _tag_job(request, namespace, job, lambda name, facets: tagged(name, facets, tag))


@routes.delete("/namespaces/{namespace}/jobs/{job}/tags/{tag}")
async def untag_job(request: Request, namespace: Segment, job: Segment, tag: Segment) -> Response:
    """Take a tag off a job."""
    return await _tag_job(request, namespace, job, lambda name, facets: untagged(name, facets, tag))


@routes.post("/namespaces/{namespace}/jobs/{job}/runs", deprecated=True, status_code=201)
@needs(Action.WRITE)
async def create_run(request: Request, namespace: Segment, job: Segment, body: bodies.RunBody) -> Response:
    """Announce a run of a job."""
    name = (await read(request, lambda asked: gather.job_named(asked, namespace, job))).name
    run = RunName(_run_id(body.id), name)
    said = run_event(now_micros(), RunState.OTHER, run, run_facets=dict(bodies.run_facets(body)))
    asserted = await scribe_of(request).say(request, [said_by(producer_of(request), said)], Action.WRITE)
    headers = {"Location": f"/api/v1/jobs/runs/{quote(run.run_id)}"}
    return await _told(request, asserted, lambda asked: _run(asked, run.run_id), 201, headers)


_MARKS = {
    "start": RunState.START,
    "complete": RunState.COMPLETE,
    "fail": RunState.FAIL,
    "abort": RunState.ABORT,
}


@routes.post("/jobs/runs/{run}/{mark}", deprecated=True)
@needs(Action.WRITE)
async def mark_run(
    request: Request,
    run: UUID,
    mark: Literal["start", "complete", "fail", "abort"],
    at: Annotated[Plain | None, Query(description="ISO 8601; now if not given")] = None,
) -> Response:
    """Say that a run has started, or how it ended."""
    name = (await read(request, lambda asked: gather.run_entry(asked, str(run)))).name
    said = run_event(_time(at), _MARKS[mark], name)
    asserted = await scribe_of(request).say(request, [said_by(producer_of(request), said)], Action.WRITE)
    return await _told(request, asserted, lambda asked: _run(asked, name.run_id))


async def _tag_dataset(
    request: Request, namespace: str, dataset: str, change: Callable[[Subject, Mapping[str, Any]], Json]
) -> Response:
    name = (await read(request, lambda asked: gather.dataset_named(asked, namespace, dataset))).name
    asserted = await scribe_of(request).assert_facets(request, name, lambda now: {"tags": change(name, now.facets)})
    return await _told(request, asserted, lambda asked: _dataset(asked, name))


async def _tag_job(
    request: Request, namespace: str, job: str, change: Callable[[Subject, Mapping[str, Any]], Json]
) -> Response:
    name = (await read(request, lambda asked: gather.job_named(asked, namespace, job))).name
    asserted = await scribe_of(request).assert_facets(request, name, lambda now: {"tags": change(name, now.facets)})
    return await _told(request, asserted, lambda asked: _job(asked, name))


async def _told(
    request: Request,
    asserted: Asserted,
    question: Callable[[Catalogued], Json],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """What there is now; or that it is to be, where the store is behind."""
    if not asserted.reached:
        positions = ",".join(str(one) for one in asserted.positions)
        return answer(
            {"position": positions, "detail": "durable; the pipeline has not brought it into the store yet"}, 202
        )
    return answer(await read(request, question), status, headers)


def _status(asserted: Asserted) -> int:
    return 200 if asserted.reached else 202


def _dataset(asked: Catalogued, name: DatasetName) -> Json:
    return shapes.dataset_document(gather.dataset_named(asked, name.namespace, name.name))


def _job(asked: Catalogued, name: JobName) -> Json:
    return shapes.job_document(gather.job_named(asked, name.namespace, name.name))


def _run(asked: Catalogued, run_id: str) -> Json:
    return shapes.run_document(gather.run_named(asked, run_id))


def _end(request: Request, name: Subject, now: int, last_seen: int) -> Json:
    # Not before anything that was said of it, else it would stay.
    return assert_facets(name, min(max(now, last_seen), LAST), producer_of(request), ended(name))


def _ends(request: Request, asked: Catalogued, namespace: str) -> list[Json]:
    now, window = now_micros(), Window(limit=MOST_DELETED + 1)
    found = [
        one
        for kind in (Kind.DATASET, Kind.JOB)
        for one in asked.catalog.listed(kind, Wanted(namespace=namespace), window)
    ]
    if len(found) > MOST_DELETED:
        raise EventError("", f"more than {MOST_DELETED:,} things are in this namespace; delete them first", 422)
    registered = Registered.NAMESPACE.of(namespace)
    if asked.catalog.registry([registered]):
        return [_end(request, registered, now, 0), *(_end(request, one.name, now, one.last_seen) for one in found)]
    return [_end(request, one.name, now, one.last_seen) for one in found]


def _written(request: Request, now: Now, run_id: str, name: DatasetName) -> Json:
    run = gather.run_entry(now.asked, run_id).name
    return said_by(producer_of(request), run_event(now.at, RunState.OTHER, run, outputs=[dataset(name)]))


def _run_id(given: str | None) -> str:
    if given is None:
        return str(uuid4())
    if (found := uuid(given)) is None:
        raise EventError("/id", "a run id is a UUID", 422)
    return found


def _time(text: str | None) -> int:
    if text is None:
        return now_micros()
    try:
        return micros(text)[0]
    except ValueError as error:
        raise EventError("/query/at", f"{text[:40]!r} is no time: {error}", 422) from None
