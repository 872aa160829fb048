"""Routes for the status: for Prometheus, and for people."""

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from whence.api.auth.guard import Asker
from whence.api.collector.collect import Collector
from whence.api.http.responses import answer
from whence.api.operations.prometheus import as_one, bounded, exposition
from whence.api.operations.response_types import (
    ContractStatus,
    Damage,
    LogAmount,
    SqlDisagreements,
    StatusDocument,
    StoreStatus,
)
from whence.api.operations.slo_metrics import SloExposition
from whence.api.operations.status import Status, StatusWatch
from whence.govern.contracts.evaluation.answers import ContractCounts
from whence.govern.slos.declared import Evaluation
from whence.log import Amount, Seal
from whence.model.access import Viewer
from whence.store.status.sql_disagreements import Disagreements


def router(
    watch: StatusWatch,
    collector: Collector,
    last: Callable[[], Evaluation | None],
    read_more: Callable[[Viewer], bytes] = lambda _: b"",
) -> APIRouter:
    """`/metrics` and `/api/v2/status`. `last`: the last evaluation of objectives; `read_more`: other metrics."""
    slos = SloExposition(last)
    routes = APIRouter(tags=["status"])

    @routes.get("/metrics", include_in_schema=False)
    async def metrics(viewer: Asker) -> Response:
        """All metrics. Raises LogError."""
        status = await watch.read()
        text = exposition(collector.meters, status, names=viewer.can_see_all)
        objectives = await asyncio.to_thread(slos.read, viewer)
        return Response(text + objectives + read_more(viewer), media_type=CONTENT_TYPE_LATEST)

    @routes.get("/api/v2/status", response_model=StatusDocument)
    async def status(viewer: Asker) -> Response:
        """Show the status of log, store and pipeline. `store` is null while the store cannot be read.

        Producers are named only to callers who may see everything.
        """
        return answer(document(await watch.read(), collector, viewer))

    return routes


def document(status: Status, collector: Collector, viewer: Viewer) -> StatusDocument:
    """The status with the names that `viewer` may see. Times are in seconds; `refused` counts since this
    process began.
    """
    return {
        "received": _amount(status.received),
        "waiting": {**_amount(status.waiting), "seconds": round(status.waiting_seconds, 3)},
        "missing": status.missing,
        "damaged": [_damage(one) for one in status.damaged],
        "refused": collector.meters.refusals(),
        "contracts": _contracts(status.contracts),
        "store": _store(status, viewer),
    }


def _contracts(counts: ContractCounts | None) -> ContractStatus | None:
    if counts is None:
        return None
    return {
        "contracts": counts.contracts,
        "violated": counts.violated,
        "violations": counts.violations,
        "not_evaluated": counts.not_evaluated,
        "unevaluated_rules": counts.unevaluated_rules,
    }


def _amount(one: Amount) -> LogAmount:
    return {"records": one.records, "bytes": one.bytes}


def _damage(seal: Seal) -> Damage:
    return {
        "from": str(seal.begin),
        "to": str(seal.end),
        "state": seal.state,
        "records": seal.count,
        "found_at": round(seal.found_at / 1e6, 3),
    }


def _store(status: Status, viewer: Viewer) -> StoreStatus | None:
    standing = status.standing
    if standing is None:
        return None
    return {
        "counted_at": round(status.counted_at, 3),
        "bytes": standing.size,
        "applied": standing.ledger.applied,
        "duplicate": standing.ledger.duplicate,
        "quarantined": standing.ledger.quarantined,
        "quarantined_by_reason": dict(standing.refusals),
        "producers": [
            {
                "producer": one.adapter.name,
                "version": one.adapter.version,
                "events": one.events,
                "last_seen": one.last_seen / 1e6,
                "restricted": one.restricted,
                "example": one.example,
            }
            for one in (bounded(standing.producers) if viewer.can_see_all else as_one(standing.producers))
        ],
        "runs_without_start": standing.runs_without_start,
        "runs_without_end": standing.runs_without_end,
        "sql": _disagreements(standing.disagreements, viewer),
    }


def _disagreements(found: Disagreements, viewer: Viewer) -> SqlDisagreements:
    return {
        "jobs_compared": found.compared,
        "jobs_disagreeing": found.jobs,
        "missing_in_report": found.missing_in_report,
        "missing_in_parse": found.missing_in_parse,
        "worst": [
            {"job": str(one.job), "missing_in_report": one.missing_in_report, "missing_in_parse": one.missing_in_parse}
            for one in found.worst
            if viewer.can_see(one.job)
        ],
    }
