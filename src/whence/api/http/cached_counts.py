"""Counts that take long: counted when somebody asks, and kept for a time that grows with what they cost."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

SHARE = 0.02
"""Of the time, at most so much is spent counting, however large the store grows."""


class CachedCount(Generic[T]):
    """The value of a slow function. Whoever comes while it is being counted anew gets what was counted before."""

    def __init__(self, count: Callable[[], T], *, least_seconds: float = 0) -> None:
        self._count = count
        self._least = least_seconds
        self._counting = threading.Lock()
        self._value: tuple[T] | None = None
        self._until = 0.0

    def get(self) -> T:
        """The value; the first time it waits for it. Raises what the function raises."""
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
