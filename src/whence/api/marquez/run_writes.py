"""Writes of runs by Marquez clients: each becomes an event in the log (`marquez.writes`)."""

from contextlib import suppress
from typing import Annotated, Any, Literal
from urllib.parse import quote
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Request, Response

from whence.api.auth.permissions import needs
from whence.api.catalog.assertions import AssertionWriter, Now, now_micros, producer_of, read, scribe_of, without_facets
from whence.api.http.path_names import Plain, Segment
from whence.api.http.responses import MISSING, answer
from whence.api.marquez import bodies, response_types, responses
from whence.api.marquez import lookup as gather
from whence.api.requests.catalog import CatalogView
from whence.errors import EventError
from whence.model.access import Action
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.json.times import parse_micros
from whence.openlineage.names.run_ids import parse_uuid
from whence.openlineage.write import replace_producer, run_event

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)

Json = dict[str, Any]


@routes.post(
    "/namespaces/{namespace}/jobs/{job}/runs",
    response_model=response_types.MarquezRun,
    deprecated=True,
    status_code=201,
)
@needs(Action.WRITE)
async def create_run(request: Request, namespace: Segment, job: Segment, body: bodies.RunBody) -> Response:
    """Create a run of a job. It reads the declared inputs of the job."""
    name = (await read(request, lambda view: gather.job_named(view, namespace, job))).name
    run, scribe = RunName(_run_id(body.id), name), scribe_of(request)

    def events(now: Now) -> list[Json]:
        if now.view.catalog.runs([run.run_id]):
            raise EventError("/id", f"Run '{run.run_id}' already exists.", 400)
        facets, inputs = dict(bodies.run_facets(body)), _declared_inputs(scribe, now, name)
        event = run_event(now_micros(), RunState.OTHER, run, run_facets=facets, inputs=inputs)
        return [replace_producer(producer_of(request), event)]

    await scribe.change(request, name, events, Action.WRITE)
    headers = {"Location": f"/api/v1/jobs/runs/{quote(run.run_id)}"}
    return answer(await read(request, lambda view: _run(view, run.run_id)), 201, headers)


_MARKS = {
    "start": RunState.START,
    "complete": RunState.COMPLETE,
    "fail": RunState.FAIL,
    "abort": RunState.ABORT,
}


@routes.post("/jobs/runs/{run}/{mark}", response_model=response_types.MarquezRun, deprecated=True)
@needs(Action.WRITE)
async def mark_run(
    request: Request,
    run: UUID,
    mark: Literal["start", "complete", "fail", "abort"],
    at: Annotated[Plain | None, Query(description="ISO 8601; now if not given")] = None,
) -> Response:
    """Mark a run as started, completed, failed or aborted."""
    name = (await read(request, lambda view: gather.run_entry(view, str(run)))).name
    event = run_event(_time(at), _MARKS[mark], name)
    await scribe_of(request).say(request, [replace_producer(producer_of(request), event)], Action.WRITE)
    return answer(await read(request, lambda view: _run(view, name.run_id)))


def _run(view: CatalogView, run_id: str) -> response_types.MarquezRun:
    return responses.run_document(gather.run_named(view, run_id))


def _declared_inputs(scribe: AssertionWriter, now: Now, job: JobName) -> list[Json]:
    with suppress(EventError):  # the declaration is no longer in the log: the run reports none
        return without_facets(scribe.declared(now, job).inputs)
    return []


def _run_id(given: str | None) -> str:
    if given is None:
        return str(uuid4())
    if (found := parse_uuid(given)) is None:
        raise EventError("/id", "a run id is a UUID", 422)
    return found


def _time(text: str | None) -> int:
    if text is None:
        return now_micros()
    try:
        return parse_micros(text)[0]
    except ValueError as error:
        raise EventError("/query/at", f"{text[:40]!r} is no time: {error}", 422) from None
