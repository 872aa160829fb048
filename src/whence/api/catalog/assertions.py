"""Writes assertions: each becomes an event in the log, and the answer waits, for a limited time, until the store has
it.

A new facet depends on the current one: that of the store, or of pending assertions that only the log has
(`api.pending.assertions`). So one instance at a time reads and appends, and no pipeline is needed.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from fastapi import Request
from sqlalchemy import Engine

from whence.api.auth.guard import viewer_of
from whence.api.collector.collect import Collector, authority_of
from whence.api.operations.progress import ProgressWatch, has_reached
from whence.api.pending.assertions import PendingAssertions
from whence.api.requests.catalog import CatalogView, open_pending_view
from whence.api.requests.raw_events import REMEMBERED, raw_events
from whence.errors import AccessError, EventError, StoreBusyError
from whence.govern.assertions import Subject, assert_facets
from whence.log import Lanes, Log, Position
from whence.model.access import OPEN, Action
from whence.model.catalog import FacetRecord
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName
from whence.openlineage.authority.governed_parts import enforce
from whence.openlineage.authority.restrictions import governing_namespace, person_uri
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.json.times import LAST
from whence.query.lookup.descriptions import decoded
from whence.store.connection.lock import hold_assertion_lock

Json = dict[str, Any]
T = TypeVar("T")

WAIT_SECONDS = 5.0
"""How long to wait for the pipeline. After that, the answer shows the future state. Marquez clients wait for 10 s."""
_TURN_SECONDS = 10.0
_POLL_SECONDS = 0.01
"""How long to wait for other instances of the API, and how often to check them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """The positions of a change's events in the log, and whether the store has them."""

    positions: tuple[Position, ...]
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The state of a dataset or job before a change: its decoded facets; `at` is the time of the change (µs).

    The time is after all reports of these facets, so that the change wins even if a producer's clock is ahead.
    """

    view: CatalogView
    facets: Mapping[str, Any]
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The declaration of a job: its lineage facet, if it has one, and its inputs and outputs, as JSON."""

    facets: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[Json] = ()
    outputs: Sequence[Json] = ()


class AssertionWriter:
    """Writes assertions of people. For one event loop."""

    def __init__(
        self, collector: Collector, log: Log, progress: ProgressWatch, engine: Engine, pending: PendingAssertions
    ) -> None:
        self._collector = collector
        self._log = log
        self._pending = pending
        self._progress = progress
        self._engine = engine
        self._one_at_a_time = asyncio.Lock()
        self._stalled: Lanes | None = None

    async def assert_facets(
        self, request: Request, subject: Subject, change: Callable[[Now], Mapping[str, Any]]
    ) -> Asserted:
        """Assert the facets of a dataset or job that a change computes from the current ones. Raises LogError,
        StoreError.
        """

        def event(now: Now) -> Sequence[Json]:
            facets = change(now)
            last = self.declared(now, subject) if isinstance(subject, JobName) else Declared()
            all_facets = {**last.facets, **facets}
            return [assert_facets(subject, now.at, producer_of(request), all_facets, (last.inputs, last.outputs))]

        return await self.change(request, subject, event)

    async def change(
        self,
        request: Request,
        subject: Subject,
        events: Callable[[Now], Sequence[Json]],
        action: Action = Action.STEWARD,
    ) -> Asserted:
        """Assert the events that follow from the current state, perhaps none. Raises as `assert_facets`, and
        AccessError.
        """
        _check_in(request, subject.namespace, subject.name, action)
        async with self._exclusive_writer():
            new_events = await read(request, lambda view: events(_now(view, subject)))
            _check(request, new_events, action)
            positions = await self._append(request, new_events) if new_events else ()
        return await self._asserted(positions)

    async def say(self, request: Request, events: Sequence[Json], action: Action = Action.STEWARD) -> Asserted:
        """Assert independent events. Raises LogError, AccessError if the caller lacks the action for one of them."""
        _check(request, events, action)
        return await self._asserted(await self._append(request, events))

    @asynccontextmanager
    async def _exclusive_writer(self) -> AsyncIterator[None]:
        """Exclude other writers, in this instance and in others. Raises StoreBusyError."""
        deadline = time.monotonic() + _TURN_SECONDS
        async with self._one_at_a_time:
            with ExitStack() as held:
                while True:
                    try:
                        await asyncio.to_thread(held.enter_context, hold_assertion_lock(self._engine))
                        break
                    except StoreBusyError:
                        if time.monotonic() > deadline:
                            raise
                    await asyncio.sleep(_POLL_SECONDS)
                yield

    async def _append(self, request: Request, events: Sequence[Json]) -> tuple[Position, ...]:
        bodies = [json.dumps(event, ensure_ascii=False).encode() for event in events]
        return await self._collector.take(bodies, authority_of(viewer_of(request)))

    async def _asserted(self, positions: tuple[Position, ...]) -> Asserted:
        least = {self._log.lane_of(one): one.after for one in sorted(positions)}
        return Asserted(positions=positions, reached=await self._wait(partial(has_reached, least)))

    async def _wait(self, is_there: Callable[[Lanes], bool]) -> bool:
        """Wait for the pipeline, but not again for one without progress since the last timeout."""
        is_stalled = self._stalled is not None and self._stalled == await self._progress.reached()
        reached = await self._progress.wait(is_there, 0 if is_stalled else WAIT_SECONDS)
        self._stalled = None if is_there(reached) else reached
        if self._stalled is not None:  # so that a reader of this instance sees the change (`known_since`)
            await asyncio.to_thread(self._pending.since, [one.as_int for one in reached.values()])
        return is_there(reached)

    def declared(self, now: Now, job: JobName) -> Declared:
        """The latest declaration of a job, as it was sent. Raises EventError, LogError."""
        last = now.view.whole.declaration(node_id(job))
        if last is None:
            return Declared()
        event = json.loads(raw_events(self._log, [last])[0])
        if REMEMBERED in event:
            raise EventError("", f"what was declared of {job} is in the log no more; declare it again first", 409)
        # A steward repeats the applied part of it, not the part that its sender was not entitled to.
        event = enforce(event, Notes())
        lineage = event.get("job", {}).get("facets", {}).get("lineage")
        kept = {"lineage": lineage} if isinstance(lineage, dict) else {}
        return Declared(facets=kept, inputs=event.get("inputs") or (), outputs=event.get("outputs") or ())


async def read(request: Request, question: Callable[[CatalogView], T]) -> T:
    """Query a separate snapshot that includes pending assertions, in a thread. Raises StoreError, LogError."""

    def ask() -> T:
        with contextmanager(open_pending_view)(request) as view:
            return question(view)

    return await asyncio.to_thread(ask)


def without_facets(datasets: Sequence[Json]) -> list[Json]:
    """The datasets of an event, by name only."""
    return [{"namespace": one.get("namespace"), "name": one.get("name"), "facets": {}} for one in datasets]


def producer_of(request: Request) -> str:
    """The caller, as the producer of an event."""
    viewer = viewer_of(request)
    return person_uri("anonymous" if viewer == OPEN else viewer.name)


def _check(request: Request, events: Sequence[Json], action: Action) -> None:
    """Check permissions here, since these events bypass the collector's check."""
    for event in events:
        about = event.get("job") or event["dataset"]
        _check_in(request, about["namespace"], about["name"], action)


def _check_in(request: Request, namespace: str, name: str, action: Action) -> None:
    """Check the action in a namespace. An assertion about a namespace or source is an action in the namespace of that
    name.
    """
    viewer, acted = viewer_of(request), governing_namespace(DatasetName(namespace, name))
    if not viewer.is_allowed(action, acted):
        raise AccessError(f"{viewer.name} may not {action} in {acted}", 403)


def scribe_of(request: Request) -> AssertionWriter:
    """The application's assertion writer."""
    found: AssertionWriter = request.app.state.scribe
    return found


def _now(view: CatalogView, subject: Subject) -> Now:
    id_ = node_id(subject)
    records: Mapping[str, FacetRecord] = view.whole.facets([id_]).get(id_, {})
    pending = [one.event.time for one in view.pending.of_node(subject)]  # includes facets that they delete
    latest = max([*(one.time for one in records.values()), *pending], default=0)
    return Now(view=view, facets=decoded(records), at=min(max(now_micros(), latest + 1), LAST))


def now_micros() -> int:
    """The time now, in microseconds UTC."""
    return time.time_ns() // 1000
