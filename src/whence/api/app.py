"""The HTTP application: which route asks what."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, FastAPI, Query, Response

from whence import __version__
from whence.api import health, problems, standing
from whence.api.collect import Collector
from whence.api.front import PATHS, Front
from whence.api.progress import ProgressWatch
from whence.api.scheduled import scheduled
from whence.api.settings import Settings
from whence.api.status import StatusWatch
from whence.errors import EventError
from whence.log import Lane, Lanes, Log
from whence.log.commit import GroupCommit
from whence.log.position import parse_positions, positions_text
from whence.store.engine import open_store, read_progress
from whence.store.standing import read_standing


def create_app(settings: Settings) -> FastAPI:
    """The application over one data directory and one store. Opens the log when it starts, frees it when it stops."""
    log = settings.log
    commit = GroupCommit(log.open_writer, settings.commit)
    engine = open_store(settings.store_url)
    progress = ProgressWatch(partial(read_progress, engine))
    collector = Collector(settings, commit)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await commit.probe()
        yield
        await commit.close()
        collector.close()
        progress.close()

    app = FastAPI(title="Whence", version=__version__, lifespan=lifespan, redirect_slashes=False)
    app.add_middleware(Front, collector=collector)
    problems.install(app)
    app.include_router(_collecting(collector))
    app.include_router(_health(settings, log, commit, progress, collector, partial(scheduled, engine)))
    app.include_router(_progress(log, progress))
    app.include_router(standing.router(StatusWatch(log, progress, partial(read_standing, engine)), collector))
    return app


def _collecting(collector: Collector) -> APIRouter:
    router = APIRouter(tags=["collect"])
    for path in PATHS:
        router.add_api_route(path, collector.one, methods=["POST"], status_code=201)
        router.add_api_route(f"{path}/batch", collector.batch, methods=["POST"])
    return router


def _health(
    settings: Settings,
    log: Log,
    commit: GroupCommit,
    progress: ProgressWatch,
    collector: Collector,
    read_scheduled: Callable[[], dict[str, health.Check]],
) -> APIRouter:
    router = APIRouter(prefix="/health", tags=["health"])

    @router.get("/live")
    async def live() -> dict[str, str]:
        """The process answers."""
        return {"status": "live"}

    @router.get("/ready")
    async def ready(
        of: Annotated[list[health.Station] | None, Query(description="which must work; all if not given")] = None,
    ) -> Response:
        """200 if log, store and pipeline all work, else 503; either way, which of them does and what they say."""
        checks = await health.readiness(settings, log, commit, progress)
        jobs = await asyncio.to_thread(read_scheduled)
        is_ready = all(checks[one].ok for one in of or checks)
        body = health.as_json(checks, is_ready=is_ready) | {"counts": collector.counts}
        body |= {"scheduled": {name: asdict(check) for name, check in jobs.items()}}
        return Response(msgspec.json.encode(body), 200 if is_ready else 503, media_type="application/json")

    return router


def _progress(log: Log, progress: ProgressWatch) -> APIRouter:
    router = APIRouter(prefix="/api/v2", tags=["progress"])

    @router.get("/progress")
    async def wait_for_progress(
        wait_for: Annotated[str, Query(description="positions, or `head`: all that is in the log now")] = "",
        timeout: Annotated[float, Query(ge=0, le=300, description="seconds")] = 10,
    ) -> dict[str, object]:
        """How far the store is: before `position` it has everything. Waits until it has what is at `wait_for`, too.

        Of a log of several lanes there is a position for each: `0:17,1:33`.
        """
        lanes = await asyncio.to_thread(log.lanes)
        least = _least_progress(log, lanes, wait_for)
        reached = await progress.wait(partial(_has_reached, least), timeout if wait_for else 0)
        return {
            "position": positions_text(reached.get(lane.name, lane.start) for lane in lanes),
            "head": positions_text(lane.end for lane in lanes),
            "reached": _has_reached(least, reached),
        }

    return router


def _least_progress(log: Log, lanes: Sequence[Lane], wait_for: str) -> Lanes:
    """The least progress past the records that a caller waits for."""
    if wait_for in ("", "head"):
        return {lane.name: lane.end for lane in lanes if lane.start < lane.end}
    try:
        # In order, so that of several in one lane the last one counts.
        return {log.lane_of(position): position.after for position in sorted(parse_positions(wait_for))}
    except ValueError as error:
        raise EventError("/query/wait_for", str(error), 400) from None


def _has_reached(least: Lanes, reached: Lanes) -> bool:
    return all(lane in reached and reached[lane] >= position for lane, position in least.items())
