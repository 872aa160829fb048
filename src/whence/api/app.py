"""The HTTP application: which route asks what."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, FastAPI, Query, Response
from fastapi.telemetry import TelemetryConfig
from sqlalchemy import Engine

from whence import __version__
from whence.api import (
    checks,
    facts,
    health,
    lineage,
    lost,
    marquez,
    measures,
    problems,
    quarantine,
    resources,
    silence,
    standing,
    traits,
    troubles,
    ui,
)
from whence.api.answers import REFUSED
from whence.api.asking import Asking
from whence.api.asserting import Scribe
from whence.api.collect import Collector
from whence.api.description import Described
from whence.api.events_described import BATCH, EVENT
from whence.api.front import PATHS, Front
from whence.api.needs import needing, needs
from whence.api.paths import EncodedPaths
from whence.api.progress import ProgressWatch, has_reached, least_progress, wait_for_positions
from whence.api.scheduled import scheduled
from whence.api.security import Security, secure
from whence.api.settings import Settings
from whence.api.status import StatusWatch
from whence.api.upkeep import Upkeep
from whence.govern.lost import LostCount
from whence.log import Log
from whence.log.commit import GroupCommit
from whence.log.position import positions_text
from whence.log.segments.log import SegmentLog
from whence.model.access import Action
from whence.store.engine import open_store, read_progress
from whence.store.kept_arrays import KeptArrays
from whence.store.standing import read_standing
from whence.store.vault import check_key

TELEMETRY: TelemetryConfig = {"metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own spans, where `whence.tracing` sends any; `/metrics` and the log have the rest."""


def create_app(settings: Settings) -> FastAPI:
    """The application over one data directory and one store. Opens the log when it starts, frees it when it stops.

    Raises StoreError if the security database does not answer.
    """
    log = settings.log
    commit = GroupCommit(log.open_writer, settings.commit)
    engine = open_store(settings.store_url)
    progress = ProgressWatch(partial(read_progress, engine))
    collector = Collector(settings, commit)
    asking = Asking(partial(wait_for_positions, log, progress))
    arrays = KeptArrays(settings.data / "edges.csr")
    upkeep = Upkeep(engine, arrays)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await commit.probe()
        upkeep.start()
        yield
        await asyncio.to_thread(upkeep.stop)
        await commit.close()
        collector.close()
        progress.close()
        asking.close()
        if security:
            await security.close()

    app = Described(
        title="Whence",
        version=__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # `ui` has them, without a script of somebody else
        redoc_url=None,
        telemetry=TELEMETRY,
    )
    app.state.engine, app.state.log, app.state.arrays = engine, log, arrays
    app.state.scribe = Scribe(collector, log, progress)
    app.add_middleware(EncodedPaths)
    app.add_middleware(Front, collector=collector)
    security = secure(app, settings)
    problems.install(app)
    app.include_router(_collecting(collector))
    app.include_router(_health(settings, log, commit, progress, collector, engine, security))
    app.include_router(_progress(log, progress))
    app.include_router(needing(Action.READ, lineage.router(asking)))
    count_lost = None if isinstance(log, SegmentLog) else LostCount(log, engine).count
    watch = StatusWatch(log, progress, partial(read_standing, engine), count_lost)
    app.include_router(needing(Action.READ, standing.router(watch, collector)))
    boards = (
        measures.router(engine, settings.tables),
        troubles.router(engine, log),
        quarantine.reads(log),
        lost.router(log),
        checks.routes,
        traits.routes,
    )
    for router in (*marquez.READS, resources.routes, facts.reads, silence.routes, *boards):
        app.include_router(needing(Action.READ, router))
    app.include_router(needing(Action.PUBLIC, ui.router()))  # files, the same for everybody
    for router in (marquez.WRITES, facts.writes, quarantine.writes(log, collector)):
        app.include_router(needing(Action.STEWARD, router))
    return app


def _collecting(collector: Collector) -> APIRouter:
    router = APIRouter(tags=["collect"])
    for path in PATHS:
        router.post(path, status_code=201, responses=REFUSED, openapi_extra=EVENT)(collector.one)
        router.post(f"{path}/batch", responses=REFUSED, openapi_extra=BATCH)(collector.batch)
    return router


def _health(
    settings: Settings,
    log: Log,
    commit: GroupCommit,
    progress: ProgressWatch,
    collector: Collector,
    engine: Engine,
    security: Security | None,
) -> APIRouter:
    router = APIRouter(prefix="/health", tags=["health"])

    @router.get("/live")
    @needs(Action.PUBLIC)
    async def live() -> dict[str, str]:
        """The process answers."""
        return {"status": "live"}

    @router.get("/ready")
    @needs(Action.PUBLIC)
    async def ready(
        of: Annotated[list[health.Station] | None, Query(description="which must work; all if not given")] = None,
    ) -> Response:
        """200 if log, store, pipeline and security database all work, else 503; either way, which of them does and what
        they say. Where Whence runs open there is no security database.
        """
        checks = await health.readiness(settings, log, commit, progress, partial(check_key, engine))
        if security:
            checks |= await health.guarded(security.check)
        jobs = await asyncio.to_thread(scheduled, engine)
        is_ready = all(checks[one].ok for one in of or checks if one in checks)
        body = health.as_json(checks, is_ready=is_ready) | {"counts": collector.counts}
        body |= {"scheduled": {name: asdict(check) for name, check in jobs.items()}}
        return Response(msgspec.json.encode(body), 200 if is_ready else 503, media_type="application/json")

    return router


def _progress(log: Log, progress: ProgressWatch) -> APIRouter:
    router = APIRouter(prefix="/api/v2", tags=["progress"])

    @router.get("/progress", responses={400: {"description": "`wait_for` is no position"}})
    @needs(Action.READ)
    async def wait_for_progress(
        wait_for: Annotated[str, Query(description="positions, or `head`: all that is in the log now")] = "",
        timeout: Annotated[float, Query(ge=0, le=300, description="seconds")] = 10,
    ) -> dict[str, object]:
        """How far the store is: before `position` it has everything. Waits until it has what is at `wait_for`, too.

        Of a log of several lanes there is a position for each: `0:17,1:33`.
        """
        lanes = await asyncio.to_thread(log.lanes)
        least = least_progress(log, lanes, wait_for)
        reached = await progress.wait(partial(has_reached, least), timeout if wait_for else 0)
        return {
            "position": positions_text(reached.get(lane.name, lane.start) for lane in lanes),
            "head": positions_text(lane.end for lane in lanes),
            "reached": has_reached(least, reached),
        }

    return router
