"""Routes that say whether Whence works, for who starts and watches processes."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlalchemy import Engine

from whence.api.auth.permissions import needs
from whence.api.collector.collect import Collector
from whence.api.http.responses import answer
from whence.api.operations import health
from whence.api.operations.periodic_jobs import scheduled
from whence.api.operations.progress import ProgressWatch
from whence.api.operations.response_types import LiveDocument, ReadyDocument
from whence.api.settings import Settings
from whence.log import Log
from whence.log.group_commit import GroupCommit
from whence.model.access import Action
from whence.store.connection.data_key import check_key


def router(
    settings: Settings,
    engine: Engine,
    written: tuple[Log, GroupCommit],
    progress: ProgressWatch,
    collector: Collector,
    check_security: Callable[[], None] | None,
) -> APIRouter:
    """Create the routes. `written`: the log, and what appends to it; `check_security`: None if Whence runs open."""
    routes = APIRouter(prefix="/health", tags=["health"])
    log, commit = written

    @routes.get("/live")
    @needs(Action.PUBLIC)
    async def live() -> LiveDocument:
        """Check whether the process answers."""
        return {"status": "live"}

    @routes.get(
        "/ready", response_model=ReadyDocument, responses={503: {"model": ReadyDocument, "description": "not ready"}}
    )
    @needs(Action.PUBLIC)
    async def ready(
        of: Annotated[list[health.Station] | None, Query(description="which must work; all if not given")] = None,
    ) -> Response:
        """Check whether log, store, pipeline and security database work.

        200 if all of them do, else 503; in both cases with the result of each check. There is no security database if
        Whence runs open.
        """
        checks = await health.readiness(settings, log, commit, progress, partial(check_key, engine))
        if check_security:
            checks |= await health.guarded(check_security)
        jobs = await asyncio.to_thread(scheduled, engine)
        is_ready = all(checks[one].ok for one in of or checks if one in checks)
        body: ReadyDocument = {
            "status": "ready" if is_ready else "not ready",
            "checks": health.check_documents(checks),
            "counts": collector.counts,
            "scheduled": health.check_documents(jobs),
        }
        return answer(body, 200 if is_ready else 503)

    return routes
