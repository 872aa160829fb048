"""What requests share, made once for one data directory and one store, and what runs beside them until the stop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from fastapi import FastAPI
from sqlalchemy import Engine

from whence.api.catalog.assertions import AssertionWriter
from whence.api.collector.collect import Collector
from whence.api.dashboards.job_health import cached_troubles
from whence.api.dashboards.kpis import cached_coverage, cached_kpis
from whence.api.governance.summary import recent_rule_facts
from whence.api.http.clock import Clock
from whence.api.http.recent import RecentValues
from whence.api.incidents.newest import NewestIncidents
from whence.api.incidents.recording import IncidentRecording, compute_incidents
from whence.api.notifications.outbox import Outbox
from whence.api.notifications.start import make_outbox
from whence.api.operations.adjacency_builds import AdjacencyBuilds
from whence.api.operations.progress import ProgressWatch, wait_for_positions
from whence.api.operations.progress_streams import ProgressStreams
from whence.api.pending.assertions import PendingAssertions
from whence.api.policies.recording import RuleRecording, evaluate_declared_rules
from whence.api.requests.estate_labels import EstateLabelsCache
from whence.api.requests.graph import GraphRequests
from whence.api.requests.recent_labels import warm_labels
from whence.api.requests.recent_standings import recent_standings, recent_twins
from whence.api.settings import Settings
from whence.api.slos.recording import SloRecording, evaluate_store
from whence.govern.rule_states.current import EvaluatedRules
from whence.govern.slos.received_times import ReceivedTimes
from whence.log import Log
from whence.log.group_commit import GroupCommit
from whence.store.adjacency.cache import AdjacencyCache
from whence.store.connection.engine import open_store, read_progress


class Task(Protocol):
    """What runs in the loop of the server."""

    def start(self) -> None:
        """Start; the loop must be running."""

    async def stop(self) -> None:
        """Stop, and release what it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What requests share. Opening them starts nothing, and does not write."""

    log: Log
    engine: Engine
    commit: GroupCommit
    progress: ProgressWatch
    streams: ProgressStreams
    collector: Collector
    requests: GraphRequests
    arrays: AdjacencyCache
    received: ReceivedTimes
    slos: SloRecording
    rules: RuleRecording
    incidents: IncidentRecording
    outbox: Outbox | None

    def tasks(self) -> tuple[Task, ...]:
        """What runs beside the requests."""
        return (self.slos, self.rules, self.incidents, *((self.outbox,) if self.outbox else ()))


def open_services(settings: Settings, security: Callable[[], Engine | None]) -> Services:
    """Make the services of one data directory and one store. `security` gives the security database, once it is
    open; None if Whence runs open. Raises ArtifactError, RulesFileError for a file of receivers that cannot be read.
    """
    log = settings.log
    commit = GroupCommit(log.open_writer, settings.commit)
    engine = open_store(settings.store_url)
    progress = ProgressWatch(partial(read_progress, engine))
    collector = Collector(settings, commit)
    received = ReceivedTimes(log)

    def evaluate_rules(now: int) -> EvaluatedRules:
        return evaluate_declared_rules(engine, now, security())

    receivers = settings.receivers
    outbox = make_outbox(receivers, log, progress, collector, engine, security) if receivers else None
    return Services(
        log=log,
        engine=engine,
        commit=commit,
        progress=progress,
        streams=ProgressStreams(progress),
        collector=collector,
        requests=GraphRequests(partial(wait_for_positions, log, progress)),
        arrays=AdjacencyCache(settings.data / "edges.csr"),
        received=received,
        slos=SloRecording(log, progress, collector, partial(evaluate_store, engine, read_received=received)),
        rules=RuleRecording(log, progress, collector, evaluate_rules, "declared rules"),
        incidents=IncidentRecording(log, progress, collector, partial(compute_incidents, engine), "incidents"),
        outbox=outbox,
    )


def share(app: FastAPI, settings: Settings, services: Services, clock: Clock) -> None:
    """Put into the application's state what the routes take from their request."""
    log, engine, state = services.log, services.engine, app.state
    state.engine, state.log, state.arrays, state.clock = engine, log, services.arrays, clock
    state.requests, state.collector = services.requests, services.collector
    state.slos, state.rules, state.incidents = services.slos, services.rules, services.incidents
    state.estate_labels, state.recent_labels = EstateLabelsCache(), RecentValues()
    state.standings, state.twins = recent_standings(engine), recent_twins(engine)
    state.rule_facts = recent_rule_facts(engine)
    state.kpi_series, state.coverage = cached_kpis(settings.tables), cached_coverage(engine)
    state.troubled_jobs = cached_troubles(engine, clock)
    state.received, state.streams = services.received, services.streams
    state.newest_incidents = NewestIncidents(lambda: services.incidents.last)
    state.pending = PendingAssertions(log)
    state.scribe = AssertionWriter(services.collector, log, services.progress, engine, state.pending)


@asynccontextmanager
async def run_services(app: FastAPI, services: Services, more: tuple[Task, ...]) -> AsyncIterator[None]:
    """Run the services, and `more` tasks, while the server serves. The last to start is the first to stop, also if
    one of them does not start.
    """
    async with AsyncExitStack() as stopping:
        _at_exit(stopping, services.requests.close, services.progress.close, services.collector.close)
        stopping.push_async_callback(services.commit.close)
        await services.commit.probe()
        builds = AdjacencyBuilds(services.engine, services.arrays)
        builds.start()
        _at_exit(stopping, builds.stop)
        _at_exit(stopping, warm_labels(app).join)
        for task in (*services.tasks(), *more):
            task.start()
            stopping.push_async_callback(task.stop)
        yield


def _at_exit(stopping: AsyncExitStack, *calls: Callable[[], None]) -> None:
    """Call these at the exit, in a thread: they wait for others."""
    for call in calls:
        stopping.push_async_callback(asyncio.to_thread, call)
