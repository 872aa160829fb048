"""Writing facts: each becomes an event in the log, and the answer waits, for a while, until the store has it.

What a facet is to be depends on what it is now, so changes of one thing come one after the other: the next one waits
until the store has the last one. So two people who tag a dataset at once both succeed.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from fastapi import Request

from whence.api.access import viewer_of
from whence.api.cataloguing import Catalogued, open_catalogued
from whence.api.collect import Collector, authority_of
from whence.api.progress import ProgressWatch
from whence.api.raw import REMEMBERED, raw_events
from whence.errors import AccessError, EventError, StoreBehindError
from whence.govern.assertions import Subject, assert_facets
from whence.log import Lanes, Log, Position
from whence.model.access import OPEN, Action
from whence.model.catalog import FacetSaid
from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName
from whence.openlineage.authority import acted_namespace, person_uri
from whence.openlineage.governed import enforce
from whence.openlineage.notes import Notes
from whence.openlineage.times import LAST
from whence.query.described import decoded

Json = dict[str, Any]
T = TypeVar("T")

WAIT_SECONDS = 10.0
"""For the pipeline. Then the answer is 202: the fact is durable, and will be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """Where the events of a change are in the log, and whether the store has them."""

    positions: tuple[Position, ...]
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What holds of a thing as somebody is about to change it: its decoded facets; `at`: when the change is said (µs).

    The time is after all that was said of these facets, so that the change wins though a producer's clock is ahead.
    """

    asked: Catalogued
    facets: Mapping[str, Any]
    at: int


class Scribe:
    """Writes what people assert. For one event loop."""

    def __init__(self, collector: Collector, log: Log, progress: ProgressWatch) -> None:
        self._collector = collector
        self._log = log
        self._progress = progress
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._pending: dict[str, Lanes] = {}

    async def assert_facets(
        self, request: Request, subject: Subject, change: Callable[[Now], Mapping[str, Any]]
    ) -> Asserted:
        """Say of a dataset or job what a change makes of its facets. Raises LogError, StoreError, StoreBehindError."""

        def event(now: Now) -> Sequence[Json]:
            facets = change(now)
            declared = self._declared(now, subject) if isinstance(subject, JobName) else ({}, ((), ()))
            return [assert_facets(subject, now.at, producer_of(request), {**declared[0], **facets}, declared[1])]

        return await self.change(request, subject, event)

    async def change(self, request: Request, subject: Subject, events: Callable[[Now], Sequence[Json]]) -> Asserted:
        """Say what follows from what holds of a thing now. Raises as `assert_facets`, and AccessError."""
        _check_in(request, subject.namespace, subject.name, Action.STEWARD)
        lock = self._locks.setdefault(str(subject), asyncio.Lock())
        async with lock:
            await self._settled(str(subject))
            said = await read(request, lambda asked: events(_now(asked, subject)))
            _check(request, said, Action.STEWARD)
            return await self._say(request, str(subject), said)

    async def say(self, request: Request, events: Sequence[Json], action: Action = Action.STEWARD) -> Asserted:
        """Say events that depend on nothing. Raises LogError, AccessError if who asks may not act on one of them."""
        _check(request, events, action)
        return await self._say(request, "", events)

    async def _say(self, request: Request, whose: str, events: Sequence[Json]) -> Asserted:
        bodies = [json.dumps(event, ensure_ascii=False).encode() for event in events]
        positions = await self._collector.take(bodies, authority_of(viewer_of(request)))
        wanted = {self._log.lane_of(one): one.after for one in sorted(positions)}
        if whose:
            self._pending[whose] = wanted
        reached = await self._wait(wanted)
        if reached:
            self._pending.pop(whose, None)
        return Asserted(positions=positions, reached=reached)

    async def _settled(self, whose: str) -> None:
        """Wait for the last change of the same thing."""
        wanted = self._pending.get(whose)
        if wanted is not None and not await self._wait(wanted):
            raise StoreBehindError(whose)
        self._pending.pop(whose, None)

    async def _wait(self, wanted: Lanes) -> bool:
        def is_there(reached: Lanes) -> bool:
            return all(lane in reached and reached[lane] >= position for lane, position in wanted.items())

        return is_there(await self._progress.wait(is_there, WAIT_SECONDS))

    def _declared(self, now: Now, job: JobName) -> tuple[Json, tuple[Sequence[Json], Sequence[Json]]]:
        """What was declared of a job last, as it was said: its lineage facet, inputs and outputs."""
        last = now.asked.whole.declaration(node_id(job))
        if last is None:
            return {}, ((), ())
        event = json.loads(raw_events(self._log, [last])[0])
        if REMEMBERED in event:
            raise EventError("", f"what was declared of {job} is in the log no more; declare it again first", 409)
        # A steward repeats what was applied of it, and nothing that its sender was not entitled to.
        event = enforce(event, Notes())
        lineage = event.get("job", {}).get("facets", {}).get("lineage")
        kept = {"lineage": lineage} if isinstance(lineage, dict) else {}
        return kept, (event.get("inputs") or (), event.get("outputs") or ())


async def read(request: Request, question: Callable[[Catalogued], T]) -> T:
    """Ask in a snapshot of its own, in a thread. Raises StoreError."""

    def ask() -> T:
        with contextmanager(open_catalogued)(request) as asked:
            return question(asked)

    return await asyncio.to_thread(ask)


def producer_of(request: Request) -> str:
    """The person who speaks, as the producer of an event."""
    viewer = viewer_of(request)
    return person_uri("anonymous" if viewer == OPEN else viewer.name)


def _check(request: Request, events: Sequence[Json], action: Action) -> None:
    """Events written here go round the collector's own door."""
    for event in events:
        about = event.get("job") or event["dataset"]
        _check_in(request, about["namespace"], about["name"], action)


def _check_in(request: Request, namespace: str, name: str, action: Action) -> None:
    """Says nothing of what is there. What is said of a namespace or source is an act in the namespace of that name."""
    viewer, acted = viewer_of(request), acted_namespace(DatasetName(namespace, name))
    if not viewer.may(action, acted):
        raise AccessError(f"{viewer.name} may not {action} in {acted}", 403)


def scribe_of(request: Request) -> Scribe:
    """The application's scribe."""
    found: Scribe = request.app.state.scribe
    return found


def _now(asked: Catalogued, subject: Subject) -> Now:
    id_ = node_id(subject)
    said: Mapping[str, FacetSaid] = asked.whole.facets([id_]).get(id_, {})
    latest = max((one.time for one in said.values()), default=0)
    return Now(asked=asked, facets=decoded(said), at=min(max(now_micros(), latest + 1), LAST))


def now_micros() -> int:
    """The time now, in microseconds UTC."""
    return time.time_ns() // 1000
