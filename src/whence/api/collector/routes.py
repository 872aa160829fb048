"""Routes that collect events, one or a batch."""

from fastapi import APIRouter

from whence.api.collector.collect import Collector
from whence.api.collector.fast_path import PATHS
from whence.api.collector.openapi import BATCH, EVENT
from whence.api.collector.response_types import Accepted, BatchAccepted
from whence.api.http.responses import REFUSED


def router(collector: Collector) -> APIRouter:
    """Create the routes of each path that producers know."""
    routes = APIRouter(tags=["collect"])
    for path in PATHS:
        routes.post(path, status_code=201, response_model=Accepted, responses=REFUSED, openapi_extra=EVENT)(
            collector.one
        )
        routes.post(f"{path}/batch", response_model=BatchAccepted, responses=REFUSED, openapi_extra=BATCH)(
            collector.batch
        )
    return routes
