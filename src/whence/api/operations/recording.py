"""Records transitions while the server runs: of objectives, and of incidents.

Time alone changes a state, so states are computed again and again: at a time of which everything that was received
before is in the store. Data that is late because Whence is late is not stale.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from whence.api.collector.collect import Collector
from whence.api.operations.progress import ProgressWatch, has_reached
from whence.errors import EventError, LogError, StoreBusyError, StoreError
from whence.log import Lanes, Log
from whence.openlineage.authority.restrictions import FULL

PAUSE_SECONDS = 5.0
"""From one look for new events to the next."""
LOOK_SECONDS = 30.0
"""Without new events time alone may change a state."""
PATIENCE_SECONDS = 10.0
"""How long a look waits for the pipeline: in a steady stream of events something always waits."""
_POLL_SECONDS = 0.5
"""From one poll of the store to the next: no client waits for a look, and the pipeline may be stopped."""
_SHARE = 0.05
"""The largest share of time that is spent on computing."""
_AT_ONCE = 1_000
"""Events of one append."""

Json = dict[str, Any]
log = logging.getLogger(__name__)


class Computed(Protocol):
    """The states at a time, and the events of the transitions that are to be recorded."""

    @property
    def events(self) -> Sequence[Json]:
        """The events, in order."""
        ...


States = TypeVar("States", bound=Computed)


class TransitionRecording(Generic[States]):
    """Computes and records the transitions of something, in at most `_SHARE` of the time, until it is stopped. For one
    event loop.
    """

    def __init__(
        self,
        event_log: Log,
        progress: ProgressWatch,
        collector: Collector,
        read: Callable[[int], States],
        what: str = "objectives",
    ) -> None:
        self._log, self._progress, self._collector, self._what = event_log, progress, collector, what
        self.read = read
        """Computes at a time (µs)."""
        self.last: States | None = None
        """What was computed last: what `/metrics` serves."""
        self._alone = asyncio.Lock()
        self.patience = PATIENCE_SECONDS
        """Seconds for which a look waits for the pipeline."""
        self._task: asyncio.Task[None] | None = None
        self._computing: asyncio.Task[States] | None = None
        self.took = 0.0
        """Seconds of the last computation."""
        self.evaluated_at = 0.0
        """For which time (s since 1970); 0 before the first."""
        self._reached: Lanes = {}
        """What was in the store then, at least."""

    def start(self) -> None:
        """Start; the loop must be running."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """Stop. A computation that runs is waited for, within bounds: it reads the store, which is closed next."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._computing:
            await asyncio.wait([self._computing], timeout=PATIENCE_SECONDS)

    async def record(self) -> int:
        """Compute once, and append what changed. Returns the number of transitions; 0 if events wait too
        long.

        Raises StoreError, LogError, EventError.
        """
        async with self._alone:
            at = time.time()
            return await self._record(at) if await self._has_all() else 0

    async def _record(self, at: float) -> int:
        began, reached = time.time(), await self._progress.reached()
        try:
            self._computing = asyncio.create_task(asyncio.to_thread(self.read, int(at * 1e6)))
            self.last = await asyncio.shield(self._computing)
        except StoreBusyError:
            return 0
        self.took, self.evaluated_at, self._reached = time.time() - began, at, reached
        await self._append(self.last.events)
        return len(self.last.events)

    async def _append(self, events: Sequence[Json]) -> None:
        for first in range(0, len(events), _AT_ONCE):
            bodies = [json.dumps(one, ensure_ascii=False).encode() for one in events[first : first + _AT_ONCE]]
            await self._collector.take(bodies, FULL)

    async def _has_all(self) -> bool:
        """Whether everything that is in the log now comes into the store in time."""
        lanes = await asyncio.to_thread(self._log.list_lanes)
        least = {lane.name: lane.end for lane in lanes if lane.start < lane.end}
        reached = await self._progress.wait(partial(has_reached, least), self.patience, _POLL_SECONDS)
        return has_reached(least, reached)

    async def _work(self) -> None:
        complaint = ""
        while True:
            try:
                if await self._is_due():
                    await self.record()
                complaint = ""
            except (StoreError, LogError, EventError) as error:  # the next look may succeed
                before, complaint = complaint, str(error)
                if complaint != before:
                    log.warning("%s are not evaluated: %s", self._what, complaint)
            await asyncio.sleep(max(PAUSE_SECONDS, self.took / _SHARE))

    async def _is_due(self) -> bool:
        return time.time() >= self.evaluated_at + LOOK_SECONDS or await self._progress.reached() != self._reached
