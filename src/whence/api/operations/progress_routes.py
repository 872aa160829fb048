"""The routes that show, wait for, or follow the position that the store has reached."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from whence.api.auth.guard import recheck_access, viewer_tag
from whence.api.auth.permissions import needs
from whence.api.operations.progress import ProgressWatch, has_reached, least_progress
from whence.api.operations.progress_streams import LONGEST_SECONDS, ProgressStreams
from whence.api.operations.response_types import ProgressDocument
from whence.errors import AccessError, LogError, StoreError
from whence.log import Lane, Lanes, Log
from whence.log.position import format_positions
from whence.model.access import Action

_EVENT = "progress"


def router(log: Log, progress: ProgressWatch, streams: ProgressStreams) -> APIRouter:
    """Create the routes."""
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
        response.headers["ETag"] = _tag(request, lanes, reached)
        return _document(lanes, reached, least)

    @routes.get("/progress/events", response_class=EventSourceResponse, dependencies=[Depends(streams.place)])
    @needs(Action.READ)
    async def follow_progress(
        request: Request,
        seconds: Annotated[float, Query(ge=0, le=LONGEST_SECONDS, description="when the stream ends")] = 300,
    ) -> AsyncIterator[ServerSentEvent]:
        """Follow the position that the store has reached, as server-sent events.

        An event `progress` comes at once, whenever the position changes (once a second at most), and every 15 seconds.
        Its data is the answer of `/progress`; its id is the ETag there, which also changes with what the caller may
        see. The stream ends when the caller may no longer read.
        """
        try:
            async for reached in streams.follow(seconds):
                await recheck_access(request)
                lanes = await asyncio.to_thread(log.list_lanes)
                document = _document(lanes, reached, {})
                yield ServerSentEvent(event=_EVENT, id=_tag(request, lanes, reached), data=document)
        except (AccessError, LogError, StoreError):
            return  # the status of the answer is sent; the next request of the caller gets this error

    return routes


def _tag(request: Request, lanes: tuple[Lane, ...], reached: Lanes) -> str:
    return f'"{_position(lanes, reached)}-{viewer_tag(request)}"'


def _document(lanes: tuple[Lane, ...], reached: Lanes, least: Lanes) -> ProgressDocument:
    return {
        "position": _position(lanes, reached),
        "head": format_positions(lane.end for lane in lanes),
        "reached": has_reached(least, reached),
    }


def _position(lanes: tuple[Lane, ...], reached: Lanes) -> str:
    return format_positions(reached.get(lane.name, lane.start) for lane in lanes)
