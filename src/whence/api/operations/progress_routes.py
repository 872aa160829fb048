"""The route that shows, or waits for, the position that the store has reached."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from whence.api.auth.guard import viewer_tag
from whence.api.auth.permissions import needs
from whence.api.operations.progress import ProgressWatch, has_reached, least_progress
from whence.api.operations.response_types import ProgressDocument
from whence.log import Log
from whence.log.position import format_positions
from whence.model.access import Action


def router(log: Log, progress: ProgressWatch) -> APIRouter:
    """Create the route."""
    routes = APIRouter(prefix="/api/v2", tags=["progress"])

    @routes.get("/progress", responses={400: {"description": "`wait_for` is no position"}})
    @needs(Action.READ)
    async def wait_for_progress(
        request: Request,
        response: Response,
        wait_for: Annotated[str, Query(description="positions, or `head`: all that is in the log now")] = "",
        timeout: Annotated[float, Query(ge=0, le=300, description="seconds")] = 10,
    ) -> ProgressDocument:
        """Show the position that the store has reached, or wait until it has the records at `wait_for`.

        A log with several lanes has a position for each: `0:17,1:33`. The ETag changes with the position, and with what
        the caller may see.
        """
        lanes = await asyncio.to_thread(log.list_lanes)
        least = least_progress(log, lanes, wait_for)
        reached = await progress.wait(partial(has_reached, least), timeout if wait_for else 0)
        position = format_positions(reached.get(lane.name, lane.start) for lane in lanes)
        response.headers["ETag"] = f'"{position}-{viewer_tag(request)}"'
        return {
            "position": position,
            "head": format_positions(lane.end for lane in lanes),
            "reached": has_reached(least, reached),
        }

    return routes
