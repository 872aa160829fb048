"""Progress of the store, read in a thread, and waiting for a position."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from whence.errors import EventError
from whence.log import Lane, Lanes, Log, Position
from whence.log.position import parse_positions

_POLL_SECONDS = 0.01
"""The interval for requests, whose clients wait for the answer."""


class ProgressWatch:
    """Reads the store's progress, one query at a time for any number of callers. For one event loop."""

    def __init__(self, read_progress: Callable[[], Mapping[str, int]]) -> None:
        self._read_progress = read_progress
        self._thread = ThreadPoolExecutor(1, "progress")
        self._one_at_a_time = asyncio.Lock()
        self._requests = self._answers = 0
        self._progress: Mapping[str, int] = {}

    async def reached(self) -> Lanes:
        """By lane: the position before which every record is in the store now. Raises StoreError."""
        # The result of a query that began after this call is recent enough, whoever started it.
        last_request = self._requests
        async with self._one_at_a_time:
            if self._answers <= last_request:
                self._requests = request = self._requests + 1
                loop = asyncio.get_running_loop()
                self._progress = await loop.run_in_executor(self._thread, self._read_progress)
                self._answers = request
        return {lane: Position.from_int(position) for lane, position in self._progress.items()}

    async def wait(
        self, is_far_enough: Callable[[Lanes], bool], seconds: float, interval: float = _POLL_SECONDS
    ) -> Lanes:
        """Poll the store until it has advanced enough or the time is over. Returns its progress then. Raises
        StoreError.

        `interval`: seconds from one poll to the next.
        """
        deadline = time.monotonic() + seconds
        while True:
            reached = await self.reached()
            now = time.monotonic()
            if is_far_enough(reached) or now >= deadline:
                return reached
            # All callers wait for the same clock ticks, so that they share one query.
            await asyncio.sleep(interval - now % interval)

    def close(self) -> None:
        """End the thread, after the query that it may be at: the store is closed next."""
        self._thread.shutdown(cancel_futures=True)


async def is_current(log: Log, watch: ProgressWatch, seconds: float = 1) -> bool:
    """Whether everything that is in the log now is in the store, or is there within some seconds. Raises LogError,
    StoreError.
    """
    lanes = await asyncio.to_thread(log.list_lanes)
    least = {lane.name: lane.end for lane in lanes if lane.start < lane.end}
    return has_reached(least, await watch.wait(partial(has_reached, least), seconds))


async def wait_for_positions(log: Log, watch: ProgressWatch, wait_for: str, seconds: float) -> bool:
    """Wait until the store has the records at some positions. Returns whether it has them.

    Raises EventError if the text is malformed, StoreError.
    """
    lanes = await asyncio.to_thread(log.list_lanes)
    least = least_progress(log, lanes, wait_for)
    return has_reached(least, await watch.wait(partial(has_reached, least), seconds))


def least_progress(log: Log, lanes: Sequence[Lane], wait_for: str) -> Lanes:
    """The least progress that includes the records that a caller waits for."""
    if wait_for in ("", "head"):
        return {lane.name: lane.end for lane in lanes if lane.start < lane.end}
    try:
        # In order, so that the last of several positions in one lane counts.
        return {log.lane_of(position): position.after for position in sorted(parse_positions(wait_for))}
    except ValueError as error:
        raise EventError("/query/wait_for", str(error), 400) from None


def has_reached(least: Lanes, reached: Lanes) -> bool:
    """Whether the store is at least so far."""
    return all(lane in reached and reached[lane] >= position for lane, position in least.items())
