"""Search, tags, events and statistics, for Marquez clients."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from fastapi import APIRouter, Query, Request, Response

from whence.api.http.clock import now_of
from whence.api.http.path_names import Limit, Offset, Plain, Segment
from whence.api.http.responses import MISSING, answer
from whence.api.marquez import lookup as gather
from whence.api.marquez import response_types, responses
from whence.api.requests.catalog import CatalogView, View
from whence.errors import EventError
from whence.model.catalog import Entry, EventFilter, NameSearch, RegistryKind, Window
from whence.model.events import EventKind, RunState
from whence.model.ids import Kind
from whence.model.names import DatasetName
from whence.query.answers.instants import SECOND, instant, iso, microseconds
from whence.query.lookup.descriptions import DescribedRun, decoded, describe_datasets, describe_jobs, describe_runs

routes = APIRouter(prefix="/api/v1", tags=["marquez"], responses=MISSING)
beta = APIRouter(prefix="/api/v2beta", tags=["marquez"], responses=MISSING)

Sort = Literal["name", "update_at", "updated_at", "NAME", "UPDATE_AT", "UPDATED_AT"]
Day = Annotated[Plain, Query(description="YYYY-MM-DD, or an ISO 8601 time")]
EARLIEST, LATEST = "1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z"


@routes.get("/search", response_model=response_types.SearchResults)
def search(
    view: View,
    q: Plain = "",
    filter: Literal["dataset", "job", "DATASET", "JOB"] | None = None,
    sort: Sort = "name",
    limit: Limit = 10,
    offset: Offset = 0,
    namespace: Plain | None = None,
    before: Day | None = None,
    after: Day | None = None,
) -> Response:
    """Search datasets and jobs by a part of their name."""
    sought = NameSearch(
        text=_sought(q),
        kinds=_kinds(filter),
        namespace=namespace,
        before=_instant(before, "before") if before else None,
        after=_instant(after, "after") if after else None,
        latest=sort.lower() != "name",
    )
    found, total = view.catalog.find(sought, Window(limit=limit, offset=offset))
    return answer({"totalCount": total, "results": [_result(one) for one in found]})


@beta.get("/search/jobs", response_model=response_types.JobHits)
def search_jobs(view: View, q: Plain = "") -> Response:
    """Search jobs by a part of their name, as Marquez answers from OpenSearch."""
    found, _ = view.catalog.find(NameSearch(text=_sought(q), kinds=(Kind.JOB,)), Window(limit=10))
    jobs = describe_jobs(view.catalog, view.graph, found, runs=1)
    hits: list[response_types.JobHit] = [
        {**responses.job_head(one), "facets": dict(one.facets), **_run_of(one.runs[0] if one.runs else None)}
        for one in jobs
    ]
    return answer({"hits": hits, "highlights": [_highlighted(one["name"], q) for one in hits]})


@beta.get("/search/datasets", response_model=response_types.DatasetHits)
def search_datasets(view: View, q: Plain = "") -> Response:
    """Search datasets by a part of their name, as Marquez answers from OpenSearch."""
    found, _ = view.catalog.find(NameSearch(text=_sought(q), kinds=(Kind.DATASET,)), Window(limit=10))
    described = describe_datasets(view.catalog, view.graph, found, columns=False)
    writes = {one.write.run.id: one.write.run for one in described if one.write}
    runs = {one.entry.id: one for one in describe_runs(view.catalog, view.graph, list(writes.values()))}
    hits: list[response_types.DatasetHit] = [
        {
            **responses.dataset_head(one),
            "facets": dict(one.facets),
            **_run_of(runs[one.write.run.id] if one.write else None),
        }
        for one in described
    ]
    return answer({"hits": hits, "highlights": [_highlighted(one["name"], q) for one in hits]})


@routes.get("/tags", response_model=response_types.Tags)
def list_tags(view: View, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List all tags, used or declared."""
    made = {
        RegistryKind.TAG.name_in(one.name)
        for one in view.catalog.registered(RegistryKind.TAG)
        if isinstance(one.name, DatasetName)
    }
    names = sorted(made | {one.name for one in view.catalog.tags()})
    page = [tag_document(view, name) for name in names[offset : offset + limit]]
    return answer({"tags": page, "totalCount": len(names)})


@routes.get("/events/lineage", response_model=response_types.Events)
def list_events(
    view: View,
    request: Request,
    before: Day = LATEST,
    after: Day = EARLIEST,
    sort: Annotated[Literal["asc", "desc", "ASC", "DESC"], Query(alias="sortDirection")] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List run events as they were sent, by time."""
    period = EventFilter(
        after=_instant(after or EARLIEST, "after"),
        before=_instant(before or LATEST, "before"),
        kinds=(EventKind.RUN,),
        newest=sort.lower() == "desc",
    )
    return _events(view, request, period, Window(limit=limit, offset=offset))


@routes.get("/events", response_model=response_types.Events)
def list_all_events(view: View, request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List events of all kinds as they were sent, newest first. For marquez-python; Marquez has no such route."""
    return _events(view, request, _all_time(None), Window(limit=limit, offset=offset))


@routes.get("/events/{namespace}", response_model=response_types.Events)
def list_events_of_namespace(
    view: View, request: Request, namespace: Segment, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the events about jobs, runs and datasets of a namespace, newest first."""
    return _events(view, request, _all_time(namespace), Window(limit=limit, offset=offset))


Period_ = Literal["DAY", "WEEK", "day", "week"]


@routes.get("/stats/lineage-events", response_model=list[response_types.EventCounts])
def count_events(view: View, request: Request, period: Period_, timezone: Plain = "UTC") -> Response:
    """Count the run events of each of the last 24 hours, or of the last 7 days."""
    times, ends = _intervals(period, timezone, now_of(request))
    counts = view.catalog.states(times)
    names = {"fail": RunState.FAIL, "start": RunState.START, "complete": RunState.COMPLETE, "abort": RunState.ABORT}
    rows = [
        {**one, **{name: some.get(state, 0) for name, state in names.items()}}
        for one, some in zip(ends, counts, strict=True)
    ]
    return answer(rows)


@routes.get("/stats/jobs", response_model=list[response_types.CountAtEnd])
def count_jobs(view: View, request: Request, period: Period_, timezone: Plain = "UTC") -> Response:
    """Count the jobs known at the end of each hour or day."""
    times, ends = _intervals(period, timezone, now_of(request))
    return _cumulative(ends, view.catalog.known(Kind.JOB, [until for _, until in times]))


@routes.get("/stats/datasets", response_model=list[response_types.CountAtEnd])
def count_datasets(view: View, request: Request, period: Period_, timezone: Plain = "UTC") -> Response:
    """Count the datasets known at the end of each hour or day."""
    times, ends = _intervals(period, timezone, now_of(request))
    return _cumulative(ends, view.catalog.known(Kind.DATASET, [until for _, until in times]))


@routes.get("/stats/sources", response_model=list[response_types.CountAtEnd])
def count_sources(view: View, request: Request, period: Period_, timezone: Plain = "UTC") -> Response:
    """Count the data sources known at the end of each hour or day."""
    times, ends = _intervals(period, timezone, now_of(request))
    since = gather.source_times(view)
    return _cumulative(ends, [sum(first < until for first in since) for _, until in times])


def tag_document(view: CatalogView, name: str) -> response_types.MarquezTag:
    """A tag with its description."""
    facets = decoded(
        view.catalog.registry([RegistryKind.TAG.dataset_of(name)]).get(RegistryKind.TAG.dataset_of(name), {})
    )
    return {"name": name, "description": responses.description_in(facets)}


def _sought(q: str) -> str:
    if not q:
        raise EventError("/query/q", "say what to search for: q=TEXT", 400)
    return q


def _is_dataset(one: Entry) -> bool:
    return isinstance(one.name, DatasetName)


def _kinds(chosen: str | None) -> tuple[int, ...]:
    match (chosen or "").lower():
        case "dataset":
            return (Kind.DATASET,)
        case "job":
            return (Kind.JOB,)
    return (Kind.DATASET, Kind.JOB)


def _result(one: Entry) -> response_types.SearchResult:
    return {
        "type": "DATASET" if _is_dataset(one) else "JOB",
        "name": one.name.name,
        "updatedAt": iso(one.last_seen),
        "namespace": one.name.namespace,
        "nodeId": str(one.name),
    }


def _run_of(run: DescribedRun | None) -> response_types.LatestRun:
    """The run of a search hit: the latest one that mentioned it."""
    if run is None:
        return {"run_id": None, "eventType": None, "runFacets": {}}
    return {"run_id": run.entry.name.run_id, "eventType": run.entry.state.name, "runFacets": dict(run.facets)}


def _highlighted(name: str, text: str) -> response_types.Highlight:
    """A name with its matching part marked, as OpenSearch marks it."""
    found = re.search(re.escape(text), name, re.IGNORECASE) if text else None
    if found is None:
        return {"name": [name]}
    return {"name": [f"{name[: found.start()]}<em>{found[0]}</em>{name[found.end() :]}"]}


def _all_time(namespace: str | None) -> EventFilter:
    return EventFilter(after=instant(EARLIEST, 0), before=instant(LATEST, 0), namespace=namespace)


def _events(view: CatalogView, request: Request, period: EventFilter, window: Window) -> Response:
    found = view.bodies(request, view.catalog.events(period, window))
    return answer({"events": [msgspec.Raw(one) for one in found], "totalCount": view.catalog.count_events(period)})


def _instant(text: str, of: str) -> int:
    try:
        return instant(text, 0)
    except (ValueError, OverflowError) as error:
        raise EventError(f"/query/{of}", str(error), 400) from None


def _intervals(
    period: str, timezone: str, at: int
) -> tuple[Sequence[tuple[int, int]], Sequence[response_types.Interval]]:
    """The last 24 hours, or 7 days in a time zone; the current one is the last. Also the intervals in the answer: as in
    Marquez, a day is its date at midnight UTC, since its web UI reads it so.
    """
    now, zone = datetime.fromtimestamp(at // SECOND, UTC), _zone(timezone)
    if period.upper() == "DAY":
        hour = now.replace(minute=0, second=0, microsecond=0)
        starts = shown = [hour - timedelta(hours=back) for back in range(23, -2, -1)]
    else:
        today = now.astimezone(zone).date()
        days = [today - timedelta(days=back) for back in range(6, -2, -1)]
        starts, shown = ([datetime(day.year, day.month, day.day, tzinfo=of) for day in days] for of in (zone, UTC))
    times, ends = ([microseconds(one.astimezone(UTC)) for one in several] for several in (starts, shown))
    intervals: list[response_types.Interval] = [
        {"startInterval": iso(begin), "endInterval": iso(end)} for begin, end in pairwise(ends)
    ]
    return list(pairwise(times)), intervals


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EventError("/query/timezone", f"{name!r} is no time zone: write Europe/Vienna, or UTC", 400) from None


def _cumulative(ends: Sequence[response_types.Interval], counts: Sequence[int]) -> Response:
    return answer([{**one, "count": count} for one, count in zip(ends, counts, strict=True)])
