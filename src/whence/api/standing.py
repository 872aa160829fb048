"""The routes that say how Whence stands: for Prometheus, and for people."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from whence.api.collect import Collector
from whence.api.metrics import bounded, exposition
from whence.api.status import Status, StatusWatch


def router(watch: StatusWatch, collector: Collector) -> APIRouter:
    """`/metrics` and `/api/v2/status`."""
    routes = APIRouter(tags=["status"])

    @routes.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        """All metrics. Raises LogError."""
        status = await watch.read()
        return Response(exposition(collector.meters, status), media_type=CONTENT_TYPE_LATEST)

    @routes.get("/api/v2/status")
    async def status() -> dict[str, Any]:
        """What came, what waits, what was refused. `store` is null while the store cannot be read."""
        return document(await watch.read(), collector)

    return routes


def document(status: Status, collector: Collector) -> dict[str, Any]:
    """The answer's body. Times are seconds; what was `refused` counts from when this process began."""
    return {
        "received": asdict(status.received),
        "waiting": {**asdict(status.waiting), "seconds": round(status.waiting_seconds, 3)},
        "missing": status.missing,
        "refused": collector.meters.refusals(),
        "store": _store(status),
    }


def _store(status: Status) -> dict[str, Any] | None:
    standing = status.standing
    if standing is None:
        return None
    return {
        "counted_at": round(status.counted_at, 3),
        "bytes": standing.size,
        **asdict(standing.ledger),
        "quarantined_by_reason": dict(standing.refusals),
        "producers": [
            {
                "producer": one.adapter.name,
                "version": one.adapter.version,
                "events": one.events,
                "last_seen": one.last_seen / 1e6,
            }
            for one in bounded(standing.producers)
        ],
        "runs_without_start": standing.runs_without_start,
        "runs_without_end": standing.runs_without_end,
    }
