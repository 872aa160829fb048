"""Cache of expensive counts: computed on demand, and kept for a time proportional to their cost."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

SHARE = 0.02
"""The largest share of time that is spent on counting, however large the store is."""


class CachedCount(Generic[T]):
    """The cached value of a slow function. While it is computed again, callers get the previous value."""

    def __init__(self, count: Callable[[], T], *, least_seconds: float = 0) -> None:
        self._count = count
        self._least = least_seconds
        self._counting = threading.Lock()
        self._value: tuple[T] | None = None
        self._until = 0.0

    def get(self) -> T:
        """The value; the first call waits for it. Raises the function's errors."""
        known = self._value
        if known and (time.monotonic() < self._until or self._counting.locked()):
            return known[0]
        with self._counting:
            if not self._value or time.monotonic() >= self._until:
                self._recount()
            assert self._value
            return self._value[0]

    def _recount(self) -> None:
        began = time.monotonic()
        self._value = (self._count(),)
        ended = time.monotonic()
        self._until = ended + max(self._least, (ended - began) / SHARE)
