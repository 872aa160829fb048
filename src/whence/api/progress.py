"""How far the store has come, read in a thread, and waiting until that is far enough."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from whence.log import Position

_POLL_SECONDS = 0.01


class ProgressWatch:
    """Asks the store how far it is, one question at a time however many want to know. For one event loop."""

    def __init__(self, read_position: Callable[[], int]) -> None:
        self._read_position = read_position
        self._thread = ThreadPoolExecutor(1, "progress")
        self._one_at_a_time = asyncio.Lock()
        self._asked = self._answered = 0
        self._position = 0

    async def position(self) -> Position:
        """Before this, every record is in the store, as of now. Raises StoreError."""
        # An answer to a question asked after this call began is fresh enough, whoever asked it.
        last_asked = self._asked
        async with self._one_at_a_time:
            if self._answered <= last_asked:
                self._asked = asked = self._asked + 1
                loop = asyncio.get_running_loop()
                self._position = await loop.run_in_executor(self._thread, self._read_position)
                self._answered = asked
        return Position.from_int(self._position)

    async def wait(self, is_far_enough: Callable[[Position], bool], seconds: float) -> Position:
        """Wait until the store is far enough or the time is over, and return how far it is then. Raises StoreError."""
        deadline = time.monotonic() + seconds
        while True:
            position = await self.position()
            now = time.monotonic()
            if is_far_enough(position) or now >= deadline:
                return position
            # All who wait wake at the same ticks of the clock, so that they share one question.
            await asyncio.sleep(_POLL_SECONDS - now % _POLL_SECONDS)

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)
