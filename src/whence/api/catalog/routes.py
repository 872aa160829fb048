"""The catalog of `/api/v2`: namespaces, datasets, jobs, runs, events."""

from collections.abc import Callable, Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response

from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import All, One, Rows
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, View
from whence.api.requests.pages import Cursor, Key, PageLimit, enveloped, paged, window
from whence.errors import EventError, ThingNotFoundError
from whence.model.catalog import Entry, EntryFilter, EventEntry, EventFilter, RunEntry, entry_sort_key
from whence.model.events import RunState
from whence.model.ids import Kind, event_id, node_id
from whence.model.names import DatasetName, JobName
from whence.query.answers.instants import instant, iso
from whence.query.lookup.descriptions import describe_datasets, describe_jobs, describe_runs, entry_of
from whence.query.rendering import catalog as rendering
from whence.query.rendering import catalog_documents as documents

routes = APIRouter(prefix="/api/v2", tags=["catalog"], responses=MISSING)

Namespace = Annotated[Plain | None, Query(description="only of this namespace")]
NAMED = (str, str, int)
TIMED = (int, int)


@routes.get("/namespaces", response_model=Rows[documents.Namespace])
def list_namespaces(view: View, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List namespaces by name, and whether they contain datasets or jobs."""
    after = window(limit, cursor, (str,)).after
    holding = {kind: set(view.catalog.namespaces(kind)) for kind in (Kind.DATASET, Kind.JOB)}
    names = sorted(name for name in set().union(*holding.values()) if after is None or name > str(after[0]))
    page = names[: limit + 1]
    since = {kind: view.catalog.first_seen(kind, page) for kind in holding}

    def document(name: str) -> documents.Namespace:
        first = min(some[name] for some in since.values() if name in some)
        return {
            "namespace": name,
            "first_seen": iso(first),
            "datasets": name in holding[Kind.DATASET],
            "jobs": name in holding[Kind.JOB],
        }

    return paged(view, page, limit, lambda name: (name,), lambda some: [document(one) for one in some])


@routes.get("/datasets", response_model=Rows[documents.Dataset])
def list_datasets(view: View, namespace: Namespace = None, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List datasets by namespace and name."""

    def described(some: Sequence[Entry]) -> Sequence[documents.Dataset]:
        found = describe_datasets(view.catalog, view.graph, some, columns=False)
        return [rendering.dataset_document(one) for one in found]

    return _named(view, Kind.DATASET, namespace, limit, cursor, described)


@routes.get("/datasets/{namespace}/{name}", response_model=One[documents.Dataset])
def get_dataset(view: View, namespace: Segment, name: Segment) -> Response:
    """Show one dataset."""
    entry = entry_of(view.catalog, DatasetName(namespace, name))
    if entry is None:
        raise ThingNotFoundError("Dataset", name)
    described = describe_datasets(view.catalog, view.graph, [entry], columns=False)
    document = rendering.dataset_document(described[0])
    if not document["fields"]:
        document["lineage_columns"] = sorted({row.name for row in view.graph.fields([entry.id])})
    return enveloped(view, document)


@routes.get("/jobs", response_model=Rows[documents.Job])
def list_jobs(view: View, namespace: Namespace = None, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List jobs by namespace and name, each with its last run."""

    def described(some: Sequence[Entry]) -> Sequence[documents.Job]:
        return [rendering.job_document(one) for one in describe_jobs(view.catalog, view.graph, some, runs=1)]

    return _named(view, Kind.JOB, namespace, limit, cursor, described)


@routes.get("/jobs/{namespace}/{name}", response_model=One[documents.Job])
def get_job(view: View, namespace: Segment, name: Segment) -> Response:
    """Show one job with its last ten runs."""
    return enveloped(
        view,
        rendering.job_document(describe_jobs(view.catalog, view.graph, [_job(view, namespace, name)])[0]),
    )


@routes.get("/jobs/{namespace}/{name}/runs", response_model=Rows[documents.Run])
def list_runs(view: View, namespace: Segment, name: Segment, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List the runs of a job, newest first."""
    found = view.catalog.runs_of(_job(view, namespace, name).id, window(limit, cursor, TIMED))

    def described(some: Sequence[RunEntry]) -> Sequence[documents.Run]:
        return [rendering.run_document(one) for one in describe_runs(view.catalog, view.graph, some)]

    return paged(view, found, limit, lambda one: (one.seen_to or 0, one.id), described)


@routes.get("/runs/{run}", response_model=All[documents.Run])
def get_run(view: View, run: UUID) -> Response:
    """Show the runs with this id: one, unless several jobs claim it."""
    found = view.catalog.runs([str(run)])
    if not found:
        raise ThingNotFoundError("Run", str(run))
    described = describe_runs(view.catalog, view.graph, found)
    return enveloped(view, [rendering.run_document(one) for one in described])


@routes.get("/events", response_model=Rows[documents.Event])
def list_events(
    view: View,
    namespace: Namespace = None,
    after: Annotated[Plain, Query(description="2026-11-20T06:00, or 2h")] = "1970-01-01",
    before: Plain = "2200-01-01",
    state: Annotated[list[documents.StateName], Query(description="only of runs, and of these states")] = [],  # noqa: B006  # FastAPI copies it
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List events with times from `after` until `before`, newest first."""
    period = EventFilter(
        after=_instant(after, "after"),
        before=_instant(before, "before"),
        namespace=namespace,
        states=frozenset(RunState[one] for one in state),
    )
    found = view.catalog.events(period, window(limit, cursor, TIMED))
    return paged(view, found, limit, _event_key, lambda some: [rendering.event_document(one) for one in some])


@routes.get("/events/{key}", response_model=One[documents.EventWithPayload])
def get_event(view: View, request: Request, key: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> Response:
    """Show one event with its payload, secrets masked."""
    found = view.catalog.event(key)
    if found is None:
        raise ThingNotFoundError("Event", key)
    payload = view.bodies(request, [found])[0]
    return answer({"data": {**rendering.event_document(found), "payload": msgspec.Raw(payload)}, "page": None})


def _named(
    view: CatalogView,
    kind: Kind,
    namespace: str | None,
    limit: int,
    cursor: str,
    described: Callable[[Sequence[Entry]], Sequence[object]],
) -> Response:
    found = view.catalog.listed(kind, EntryFilter(namespace=namespace), window(limit, cursor, NAMED))
    return paged(view, found, limit, entry_sort_key, described)


def _job(view: CatalogView, namespace: str, name: str) -> Entry:
    found = view.catalog.entries([node_id(JobName(namespace, name))])
    if not found:
        raise ThingNotFoundError("Job", name)
    return next(iter(found.values()))


def _event_key(one: EventEntry) -> Key:
    return one.time, event_id(one.key)


def _instant(text: str, of: str) -> int:
    try:
        return instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError(f"/query/{of}", str(error), 400) from None
