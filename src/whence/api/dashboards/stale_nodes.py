"""Stale nodes: runs without a start or an end, and datasets that no event mentions any more (dashboards.md)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from fastapi import APIRouter, Request, Response

from whence.api.auth.guard import Asker
from whence.api.http import dashboard_types
from whence.api.http.clock import now_of
from whence.api.http.dashboard_types import Lacking, UnfinishedRuns, answered_with
from whence.api.http.responses import MISSING, answer
from whence.api.requests.pages import Cursor, PageLimit, cut, window
from whence.model.access import Viewer
from whence.model.catalog import Entry, Window
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName
from whence.query.answers.instants import iso
from whence.store.snapshots.catalog import snapshot
from whence.store.status.stale_nodes import Lacks, UnfinishedRun, list_silent_datasets, list_unfinished_runs

_READ = 1_000
T = TypeVar("T")
Key = tuple[str | int, ...]

routes = APIRouter(prefix="/api/v2", tags=["dashboards"], responses=MISSING)


@routes.get("/unfinished-runs", responses=answered_with(UnfinishedRuns))
def list_unfinished(
    request: Request, viewer: Asker, lacks: Lacks = "end", limit: PageLimit = 100, cursor: Cursor = ""
) -> Response:
    """List batch runs without an end that were silent for a day, or runs without a start."""
    now = now_of(request)
    with snapshot(request.app.state.engine) as connection:
        found = visible(
            viewer,
            window(limit, cursor, (int, int)),
            lambda wanted: list_unfinished_runs(connection, lacks, now, wanted),
            _run_key,
            lambda one: one.job,
        )
    shown, page = cut(found, limit, _run_key)
    return answer({"data": [_run(one) for one in shown], "page": page})


@routes.get("/silent-datasets", responses=answered_with(Lacking))
def list_silent(request: Request, viewer: Asker, limit: PageLimit = 100, cursor: Cursor = "") -> Response:
    """List datasets with current lineage, those first that no event mentioned for the longest time."""
    with snapshot(request.app.state.engine) as connection:
        found = visible(
            viewer,
            window(limit, cursor, (int, int)),
            lambda wanted: list_silent_datasets(connection, wanted),
            _dataset_key,
            lambda one: one.name,
        )
    shown, page = cut(found, limit, _dataset_key)
    return answer({"data": [mentioned(one) for one in shown], "page": page})


def visible(
    viewer: Viewer,
    wanted: Window,
    rows: Callable[[Window], Sequence[T]],
    key: Callable[[T], Key],
    name: Callable[[T], DatasetName | JobName],
) -> Sequence[T]:
    """A page of visible rows; fetches more until there are enough."""
    found: list[T] = []
    following = wanted.after
    while len(found) < wanted.limit:
        some = rows(Window(limit=_READ, after=following))
        found += [one for one in some if viewer.can_see(name(one))]
        if len(some) < _READ:
            break
        following = key(some[-1])
    return found[: wanted.limit]


def _run_key(one: UnfinishedRun) -> Key:
    return one.until, one.id


def _dataset_key(one: Entry) -> Key:
    return one.last_seen, one.id


def _run(one: UnfinishedRun) -> dashboard_types.UnfinishedRun:
    return {
        "run": f"run:{one.run_id}",
        "job": str(one.job),
        "state": RunState(one.state).name,
        "first_seen": iso(one.since),
        "last_seen": iso(one.until),
    }


def mentioned(one: Entry) -> dashboard_types.Seen:
    """A dataset, with the times of its first and last event."""
    return {"node": str(one.name), "first_seen": iso(one.first_seen), "last_seen": iso(one.last_seen)}
