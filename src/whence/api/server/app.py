"""The HTTP application, with all routes."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import APIRouter, FastAPI
from fastapi.telemetry import TelemetryConfig

from whence import __version__
from whence.api import marquez, ui
from whence.api.auth.permissions import needing
from whence.api.auth.wiring import Security, secure
from whence.api.catalog import contract_routes, fact_routes
from whence.api.catalog import routes as catalog_routes
from whence.api.certification import badge_routes, baseline_routes, public_badges, score_routes
from whence.api.certification import routes as certification_routes
from whence.api.collector import routes as collector_routes
from whence.api.collector.fast_path import FastPath
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
from whence.api.incidents import acts as incident_acts
from whence.api.incidents import breakers
from whence.api.incidents import routes as incident_routes
from whence.api.lineage import node_traits
from whence.api.lineage import routes as lineage_routes
from whence.api.notifications.metrics import outbox_exposition
from whence.api.operations import health_routes, progress_routes, quarantine
from whence.api.operations import routes as operation_routes
from whence.api.operations.contract_counts import ContractWatch, read_contract_counts
from whence.api.operations.status import StatusWatch
from whence.api.policies import declared_routes as policy_declarations
from whence.api.policies import routes as policy_routes
from whence.api.reports import routes as report_routes
from whence.api.requests.graph import GraphRequests
from whence.api.server.openapi import Described
from whence.api.server.services import Services, open_services, run_services, share
from whence.api.settings import Settings, SlackSettings
from whence.api.slack import routes as slack_routes
from whence.api.slack.answers import SlackAnswers
from whence.api.slack.late_answers import LateAnswers
from whence.api.slos import routes as slo_routes
from whence.govern.evidence.installation import Installation
from whence.govern.lost_records import LostCount
from whence.log.segments.log import SegmentLog
from whence.model.access import Action
from whence.store.status.overview import read_overview
from whence.tracing import is_traced

TELEMETRY: TelemetryConfig = {"metrics": False, "logs": False, "auto_configure": False}
"""Of FastAPI's telemetry only the spans, if `whence.tracing` exports any; other data is in `/metrics` and the log."""


def create_app(settings: Settings, clock: Clock = system_clock) -> FastAPI:
    """Create the application for one data directory and one store. It opens the log at start, and releases it at stop.

    `clock` is the time for answers that depend on it. Raises StoreError if the security database does not respond.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stopping:
            if security:
                stopping.push_async_callback(security.close)
            stopping.push_async_callback(late.close)
            await stopping.enter_async_context(run_services(app, services, evidence))
            yield

    app = Described(
        title="Whence",
        version=__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # `ui` serves them, without third-party scripts
        redoc_url=None,
        telemetry={**TELEMETRY, "tracing": is_traced()},  # else FastAPI would look for a provider in each request
    )
    services = open_services(settings, lambda: app.state.security)
    share(app, settings, services, clock)
    app.add_middleware(EncodedPaths)
    app.add_middleware(FastPath, collector=services.collector)
    security = secure(app, settings)
    evidence = _schedule_evidence(settings, app)
    problems.install(app)
    late = LateAnswers(settings.slack.response_base if settings.slack else "")
    app.state.late_answers = late
    _include_routes(app, settings, services, security, late)
    return app


def _include_routes(
    app: FastAPI, settings: Settings, services: Services, security: Security | None, late: LateAnswers
) -> None:
    """Add all routes. A request takes the first that fits."""
    log, progress, collector = services.log, services.progress, services.collector
    written, check = (log, services.commit), security.check if security else None
    app.include_router(collector_routes.router(collector))
    app.include_router(health_routes.router(settings, services.engine, written, progress, collector, check))
    app.include_router(progress_routes.router(log, progress, services.streams))
    for router in (lineage_routes.routes, _status(services), *_catalog(), *_dashboards()):
        app.include_router(needing(Action.READ, router))
    if security and settings.slack:
        app.include_router(_slack(settings.slack, services.requests, security, late))
    app.include_router(needing(Action.READ, policy_routes.routes))
    app.include_router(needing(Action.ADMIN, access_review.routes))
    app.include_router(needing(Action.READ, evidence_routes.router(settings.evidence_keys, settings.signed_heads)))
    app.include_router(public_badges.router(settings.public_badges))
    app.include_router(needing(Action.PUBLIC, ui.router()))  # files, the same for everybody
    for router in (*_writes(), quarantine.writes):
        app.include_router(needing(Action.STEWARD, router))


def _slack(settings: SlackSettings, requests: GraphRequests, security: Security, late: LateAnswers) -> APIRouter:
    answers = SlackAnswers(credentials=security.credentials, requests=requests, base=settings.public_url)
    return slack_routes.router(settings.signing_secret, answers, late, security.auditing)


def _status(services: Services) -> APIRouter:
    log, engine, progress, outbox = services.log, services.engine, services.progress, services.outbox
    count_lost = None if isinstance(log, SegmentLog) else LostCount(log, engine).count
    contracts = ContractWatch(partial(read_contract_counts, engine))
    sent = outbox_exposition(lambda: outbox.counts if outbox else {})
    watch = StatusWatch(log, progress, partial(read_overview, engine), count_lost, contracts)
    return operation_routes.router(watch, services.collector, lambda: services.slos.last, sent)


def _schedule_evidence(settings: Settings, app: FastAPI) -> tuple[EvidenceSchedule, ...]:
    """What signs heads and stores packs while the server runs; nothing if that is not wanted."""
    if settings.evidence_seconds <= 0:
        return ()
    installation = Installation(
        store=app.state.engine,
        log=app.state.log,
        security=app.state.security,
        keys=settings.evidence_keys,
        heads=settings.signed_heads,
    )
    wanted = EvidenceSettings(every=settings.evidence_seconds, packs=settings.stored_packs)
    return (EvidenceSchedule(installation, wanted),)


def _catalog() -> Iterator[APIRouter]:
    yield from (*marquez.READS, catalog_routes.routes, fact_routes.reads, contract_routes.routes, gate.reads)
    yield from (promotions.reads, slo_routes.routes, certification_routes.routes, badge_routes.routes)
    yield from (policy_declarations.routes, baseline_routes.routes, labels.routes, summary.routes)
    yield from (incident_routes.routes, breakers.routes, containment.reads, score_routes.routes)
    yield from (stale_nodes.routes, failed_checks.routes, node_traits.routes, report_routes.routes)


def _dashboards() -> Iterator[APIRouter]:
    yield from (kpis.routes, job_health.routes, quarantine.reads, lost_records.routes)


def _writes() -> Iterator[APIRouter]:
    yield from (*marquez.WRITES, fact_routes.writes, gate.writes, promotions.writes, containment.writes)
    yield from (incident_acts.writes, baseline_routes.writes)
