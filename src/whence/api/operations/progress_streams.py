"""Open streams of the store's progress: server-sent events for pages that are looked at."""

import asyncio
import time
from collections.abc import AsyncIterator

from whence.api.operations.progress import ProgressWatch
from whence.errors import QuestionsBusyError
from whence.log import Lanes

MOST = 1_000
"""Streams that are open at once."""
LONGEST_SECONDS = 300
"""A stream ends then, and the page opens another: proxies end connections that are older."""
SILENT_SECONDS = 15
"""The longest pause between two events of a stream."""
_LOOK_SECONDS = 1.0


class ProgressStreams:
    """Follows the progress for the pages that are open. For one event loop.

    However many there are, they look at the same ticks of the clock, so that they share one query a second.
    """

    def __init__(self, watch: ProgressWatch, most: int = MOST) -> None:
        self._watch = watch
        self._most = most
        self._open = 0
        self._closing = asyncio.Event()

    async def place(self) -> AsyncIterator[None]:
        """One of the places for streams, while it is used (a dependency of a route). Raises QuestionsBusyError."""
        if self._open >= self._most:
            raise QuestionsBusyError
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    async def follow(self, seconds: float) -> AsyncIterator[Lanes]:
        """The progress now and whenever it changes, and after `SILENT_SECONDS` without a change, for some seconds.

        Raises StoreError.
        """
        deadline = time.monotonic() + min(seconds, LONGEST_SECONDS)
        last, sent = await self._watch.reached(), time.monotonic()
        yield last
        while await self._sleep(deadline):
            reached, now = await self._watch.reached(), time.monotonic()
            if reached != last or now - sent >= SILENT_SECONDS:
                last, sent = reached, now
                yield last

    def close(self) -> None:
        """End all streams, and each that is opened from now on after its first event."""
        self._closing.set()

    async def _sleep(self, deadline: float) -> bool:
        """Sleep until the next tick; whether the stream goes on then."""
        now = time.monotonic()
        pause = _LOOK_SECONDS - now % _LOOK_SECONDS
        if now + pause >= deadline:
            return False
        try:
            await asyncio.wait_for(self._closing.wait(), pause)
        except TimeoutError:
            return True
        return False
