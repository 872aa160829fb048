"""The HTTP application, with all routes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.telemetry import TelemetryConfig
from sqlalchemy import Engine

from whence import __version__
from whence.api import marquez, ui
from whence.api.auth.guard import viewer_tag
from whence.api.auth.permissions import needing, needs
from whence.api.auth.wiring import Security, secure
from whence.api.catalog import contract_routes, fact_routes
from whence.api.catalog import routes as catalog_routes
from whence.api.catalog.assertions import AssertionWriter
from whence.api.certification import badge_routes, baseline_routes, public_badges, score_routes
from whence.api.certification import routes as certification_routes
from whence.api.collector.collect import Collector
from whence.api.collector.fast_path import PATHS, FastPath
from whence.api.collector.openapi import BATCH, EVENT
from whence.api.collector.response_types import Accepted, BatchAccepted
from whence.api.containment import routes as containment
from whence.api.dashboards import failed_checks, job_health, kpis, lost_records, stale_nodes
from whence.api.evidence import routes as evidence_routes
from whence.api.evidence.schedule import EvidenceSchedule, EvidenceSettings
from whence.api.gate import promotions
from whence.api.gate import routes as gate
from whence.api.governance import access_review, labels, summary
from whence.api.http import problems
from whence.api.http.clock import Clock, system_clock
from whence.api.http.path_names import EncodedPaths
from whence.api.http.recent import RecentValues
from whence.api.http.responses import REFUSED, answer
from whence.api.incidents import acts as incident_acts
from whence.api.incidents import breakers
from whence.api.incidents import routes as incident_routes
from whence.api.incidents.newest import NewestIncidents
from whence.api.incidents.recording import IncidentRecording, compute_incidents
from whence.api.lineage import node_traits
from whence.api.lineage import routes as lineage_routes
from whence.api.notifications.metrics import outbox_exposition
from whence.api.notifications.start import make_outbox
from whence.api.operations import health, quarantine
from whence.api.operations import routes as operation_routes
from whence.api.operations.adjacency_builds import AdjacencyBuilds
from whence.api.operations.contract_counts import ContractWatch, read_contract_counts
from whence.api.operations.periodic_jobs import scheduled
from whence.api.operations.progress import ProgressWatch, has_reached, least_progress, wait_for_positions
from whence.api.operations.response_types import LiveDocument, ProgressDocument, ReadyDocument
from whence.api.operations.status import StatusWatch
from whence.api.pending.assertions import PendingAssertions
from whence.api.policies import declared_routes as policy_declarations
from whence.api.policies import routes as policy_routes
from whence.api.policies.recording import RuleRecording, evaluate_declared_rules
from whence.api.reports import routes as report_routes
from whence.api.requests.estate_labels import EstateLabelsCache
from whence.api.requests.graph import GraphRequests
from whence.api.requests.recent_labels import warm_labels
from whence.api.requests.recent_standings import recent_standings, recent_twins
from whence.api.server.openapi import Described
from whence.api.settings import Settings
from whence.api.slack import routes as slack_routes
from whence.api.slack.answers import SlackAnswers
from whence.api.slos import routes as slo_routes
from whence.api.slos.recording import SloRecording, evaluate_store
from whence.govern.evidence.installation import Installation
from whence.govern.lost_records import LostCount
from whence.govern.slos.received_times import ReceivedTimes
from whence.log import Log
from whence.log.group_commit import GroupCommit
from whence.log.position import format_positions
from whence.log.segments.log import SegmentLog
from whence.model.access import Action
from whence.store.adjacency.cache import AdjacencyCache
from whence.store.connection.data_key import check_key
from whence.store.connection.engine import open_store, read_progress
from whence.store.status.overview import read_overview
from whence.tracing import is_traced

TELEMETRY: TelemetryConfig = {"metrics": False, "logs": False, "auto_configure": False}
"""Of FastAPI's telemetry only the spans, if `whence.tracing` exports any; other data is in `/metrics` and the log."""


def create_app(settings: Settings, clock: Clock = system_clock) -> FastAPI:
    """Create the application for one data directory and one store. It opens the log at start, and releases it at stop.

    `clock` is the time for answers that depend on it. Raises StoreError if the security database does not respond.
    """
    log = settings.log
    commit = GroupCommit(log.open_writer, settings.commit)
    engine = open_store(settings.store_url)
    progress = ProgressWatch(partial(read_progress, engine))
    collector = Collector(settings, commit)
    requests = GraphRequests(partial(wait_for_positions, log, progress))
    arrays = AdjacencyCache(settings.data / "edges.csr")
    builds = AdjacencyBuilds(engine, arrays)
    received = ReceivedTimes(log)
    recording = SloRecording(log, progress, collector, partial(evaluate_store, engine, read_received=received))
    outbox = make_outbox(settings.receivers, log, progress, collector, engine) if settings.receivers else None
    rules = RuleRecording(log, progress, collector, partial(evaluate_declared_rules, engine), "declared rules")
    incidents = IncidentRecording(log, progress, collector, partial(compute_incidents, engine), "incidents")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await commit.probe()
        builds.start()
        recording.start()
        rules.start()
        incidents.start()
        warming = warm_labels(app)
        if outbox:
            outbox.start()
        if evidence:
            evidence.start()
        yield
        if evidence:
            await evidence.stop()
        await recording.stop()
        await rules.stop()
        await incidents.stop()
        if outbox:
            await outbox.stop()
        await asyncio.to_thread(warming.join)
        await asyncio.to_thread(builds.stop)
        await commit.close()
        collector.close()
        await asyncio.to_thread(progress.close)
        requests.close()
        if security:
            await security.close()

    app = Described(
        title="Whence",
        version=__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # `ui` serves them, without third-party scripts
        redoc_url=None,
        telemetry={**TELEMETRY, "tracing": is_traced()},  # else FastAPI would look for a provider in each request
    )
    app.state.engine, app.state.log, app.state.arrays, app.state.clock = engine, log, arrays, clock
    app.state.slos, app.state.rules, app.state.incidents = recording, rules, incidents
    app.state.estate_labels, app.state.recent_labels = EstateLabelsCache(), RecentValues()
    app.state.standings, app.state.twins = recent_standings(engine), recent_twins(engine)
    app.state.rule_facts = summary.recent_rule_facts(engine)
    app.state.received = received
    app.state.newest_incidents = NewestIncidents(lambda: incidents.last)
    app.state.pending = pending = PendingAssertions(log)
    app.state.scribe = AssertionWriter(collector, log, progress, engine, pending)
    app.add_middleware(EncodedPaths)
    app.add_middleware(FastPath, collector=collector)
    security = secure(app, settings)
    evidence = _schedule_evidence(settings, app)
    problems.install(app)
    app.include_router(_collecting(collector))
    app.include_router(_health(settings, log, commit, progress, collector, engine, security))
    app.include_router(_progress(log, progress))
    app.include_router(needing(Action.READ, lineage_routes.router(requests)))
    count_lost = None if isinstance(log, SegmentLog) else LostCount(log, engine).count
    contracts = ContractWatch(partial(read_contract_counts, engine))
    sent = outbox_exposition(lambda: outbox.counts if outbox else {})
    watch = StatusWatch(log, progress, partial(read_overview, engine), count_lost, contracts)
    app.include_router(needing(Action.READ, operation_routes.router(watch, collector, lambda: recording.last, sent)))
    for router in (*_catalog(), *_dashboards(settings, log, engine, clock)):
        app.include_router(needing(Action.READ, router))
    if security and settings.slack:
        slack = SlackAnswers(credentials=security.credentials, requests=requests, base=settings.slack.public_url)
        app.include_router(slack_routes.router(settings.slack.signing_secret, slack, security.auditing))
    app.include_router(needing(Action.READ, policy_routes.router(requests)))
    app.include_router(needing(Action.ADMIN, access_review.routes))
    app.include_router(needing(Action.READ, evidence_routes.router(settings.evidence_keys, settings.signed_heads)))
    app.include_router(public_badges.router(settings.public_badges))
    app.include_router(needing(Action.PUBLIC, ui.router()))  # files, the same for everybody
    for router in (
        *marquez.WRITES,
        fact_routes.writes,
        gate.writes,
        promotions.writes,
        containment.writes,
        incident_acts.writes,
        baseline_routes.writes,
        quarantine.writes(log, collector),
    ):
        app.include_router(needing(Action.STEWARD, router))
    return app


def _schedule_evidence(settings: Settings, app: FastAPI) -> EvidenceSchedule | None:
    """What signs heads and stores packs while the server runs; None if nothing is to be."""
    if settings.evidence_seconds <= 0:
        return None
    installation = Installation(
        store=app.state.engine,
        log=app.state.log,
        security=app.state.security,
        keys=settings.evidence_keys,
        heads=settings.signed_heads,
    )
    return EvidenceSchedule(
        installation, EvidenceSettings(every=settings.evidence_seconds, packs=settings.stored_packs)
    )


def _catalog() -> Iterator[APIRouter]:
    yield from (*marquez.READS, catalog_routes.routes, fact_routes.reads, contract_routes.routes, gate.reads)
    yield from (promotions.reads, slo_routes.routes, certification_routes.routes, badge_routes.routes)
    yield from (policy_declarations.routes, baseline_routes.routes, labels.routes, summary.routes)
    yield from (incident_routes.routes, breakers.routes, containment.reads, score_routes.routes)
    yield from (stale_nodes.routes, failed_checks.routes, node_traits.routes, report_routes.routes)


def _dashboards(settings: Settings, log: Log, engine: Engine, clock: Clock) -> Iterator[APIRouter]:
    yield kpis.router(engine, settings.tables)
    yield job_health.router(engine, log, clock)
    yield quarantine.reads(log)
    yield lost_records.router(log)


def _collecting(collector: Collector) -> APIRouter:
    router = APIRouter(tags=["collect"])
    for path in PATHS:
        router.post(path, status_code=201, response_model=Accepted, responses=REFUSED, openapi_extra=EVENT)(
            collector.one
        )
        router.post(f"{path}/batch", response_model=BatchAccepted, responses=REFUSED, openapi_extra=BATCH)(
            collector.batch
        )
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
    async def live() -> LiveDocument:
        """Check whether the process answers."""
        return {"status": "live"}

    @router.get(
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
        if security:
            checks |= await health.guarded(security.check)
        jobs = await asyncio.to_thread(scheduled, engine)
        is_ready = all(checks[one].ok for one in of or checks if one in checks)
        body: ReadyDocument = {
            "status": "ready" if is_ready else "not ready",
            "checks": health.check_documents(checks),
            "counts": collector.counts,
            "scheduled": health.check_documents(jobs),
        }
        return answer(body, 200 if is_ready else 503)

    return router


def _progress(log: Log, progress: ProgressWatch) -> APIRouter:
    router = APIRouter(prefix="/api/v2", tags=["progress"])

    @router.get("/progress", responses={400: {"description": "`wait_for` is no position"}})
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

    return router
