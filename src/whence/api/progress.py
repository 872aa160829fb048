"""How far the store has come, read in a thread, and waiting until that is far enough."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from whence.log import Lanes, Position

_POLL_SECONDS = 0.01


class ProgressWatch:
    """Asks the store how far it is, one question at a time however many want to know. For one event loop."""

    def __init__(self, read_progress: Callable[[], Mapping[str, int]]) -> None:
        self._read_progress = read_progress
        self._thread = ThreadPoolExecutor(1, "progress")
        self._one_at_a_time = asyncio.Lock()
        self._asked = self._answered = 0
        self._progress: Mapping[str, int] = {}

    async def reached(self) -> Lanes:
        """By lane: before this, every record is in the store, as of now. Raises StoreError."""
        # An answer to a question asked after this call began is fresh enough, whoever asked it.
        last_asked = self._asked
        async with self._one_at_a_time:
            if self._answered <= last_asked:
                self._asked = asked = self._asked + 1
                loop = asyncio.get_running_loop()
                self._progress = await loop.run_in_executor(self._thread, self._read_progress)
                self._answered = asked
        return {lane: Position.from_int(position) for lane, position in self._progress.items()}

    async def wait(self, is_far_enough: Callable[[Lanes], bool], seconds: float) -> Lanes:
        """Wait until the store is far enough or the time is over, and return how far it is then. Raises StoreError."""
        deadline = time.monotonic() + seconds
        while True:
            reached = await self.reached()
            now = time.monotonic()
            if is_far_enough(reached) or now >= deadline:
                return reached
            # All who wait wake at the same ticks of the clock, so that they share one question.
            await asyncio.sleep(_POLL_SECONDS - now % _POLL_SECONDS)

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)
