"""The incidents of the newest position of the store, computed once for all requests and for the recording."""

import threading
from collections.abc import Callable, Iterator

from whence.govern.incidents.current import ComputedIncidents, ReadIncidents

MOST_AGE = 60_000_000
"""Time alone changes states, too: so old (µs) an answer of the same position may be. The recording looks every 30 s."""


class NewestIncidents:
    """Keeps the incidents that were computed last, and computes them again when the position moved. Threads share it.

    They are computed by everything that is in the store: what each caller may see of them is decided later.
    """

    def __init__(self, recorded: Callable[[], ComputedIncidents | None]) -> None:
        self._recorded = recorded
        self._kept: ReadIncidents | None = None
        self._computing = threading.Lock()

    def read(self, reached: tuple[int, ...], now: int, compute: Callable[[], ReadIncidents]) -> ReadIncidents:
        """The incidents at a position, at most `MOST_AGE` before a time (µs). Only one thread computes them."""
        if (found := self._find(reached, now)) is not None:
            return found
        with self._computing:
            if (found := self._find(reached, now)) is None:
                self._kept = found = compute()
        return found

    def _find(self, reached: tuple[int, ...], now: int) -> ReadIncidents | None:
        fresh = (one for one in self._candidates() if one.reached == reached and now - one.at <= MOST_AGE)
        return max(fresh, key=lambda one: one.at, default=None)

    def _candidates(self) -> Iterator[ReadIncidents]:
        if (kept := self._kept) is not None:
            yield kept
        if (recorded := self._recorded()) is not None:
            yield recorded.read
