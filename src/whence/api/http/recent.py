"""Cache of expensive values: a value is kept for a time proportional to what it cost, then computed again."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Generic, TypeVar

from whence.api.http.cached_counts import SHARE
from whence.errors import WhenceError

_log = logging.getLogger(__name__)
T = TypeVar("T")

KEPT = 64
"""The most keys of which the value is kept."""
SOON_SECONDS = 0.2
"""What costs less is computed while its caller waits; else the caller gets the previous value meanwhile."""


@dataclass(slots=True)
class _Place(Generic[T]):
    """The value of a key, what it cost, and until when it is new enough."""

    computing: Lock = field(default_factory=Lock)
    value: tuple[T] | None = None
    cost: float = 0.0
    until: float = 0.0

    def compute(self, compute: Callable[[], T]) -> None:
        began = time.monotonic()
        self.value = (compute(),)
        ended = time.monotonic()
        self.cost, self.until = ended - began, ended + (ended - began) / SHARE


class RecentValues(Generic[T]):
    """Recent values by key; those of the keys that were used last. Thread-safe."""

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self._places: OrderedDict[Hashable, _Place[T]] = OrderedDict()
        self._changing = Lock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of a key; the first call of a key waits for it. Raises what `compute` raises.

        `compute` may be called in another thread, when the request has been answered.
        """
        place = self._place(key)
        if place.value is not None and (time.monotonic() < place.until or place.computing.locked()):
            return place.value[0]
        if place.value is not None and place.cost > SOON_SECONDS:
            Thread(target=self._renew, args=(place, compute), daemon=True, name="recent values").start()
            return place.value[0]
        with place.computing:
            if place.value is None or time.monotonic() >= place.until:
                place.compute(compute)
            assert place.value
            return place.value[0]

    def get_within(self, seconds: float, key: Hashable, compute: Callable[[], T]) -> T | None:
        """The value of a key; None if it is not known after some seconds: it is still computed, for later calls."""
        place = self._place(key)
        if place.value is not None:
            return self.get(key, compute)
        computing = Thread(target=self._renew, args=(place, compute), daemon=True, name="recent values")
        computing.start()
        computing.join(seconds)
        if place.value is None and place.computing.acquire(timeout=seconds):
            place.computing.release()  # another call had begun
        return None if place.value is None else place.value[0]

    def _renew(self, place: _Place[T], compute: Callable[[], T]) -> None:
        if not place.computing.acquire(blocking=False):
            return
        try:
            place.compute(compute)
        except WhenceError as error:
            _log.warning("a recent value is not computed again: %s", error)
        finally:
            place.computing.release()

    def _place(self, key: Hashable) -> _Place[T]:
        with self._changing:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            while len(self._places) > KEPT:
                self._places.popitem(last=False)
            return place


class RecentValue(Generic[T]):
    """One recent value, the same for every caller. Thread-safe."""

    def __init__(self, compute: Callable[[], T]) -> None:
        """Nothing is computed yet."""
        self._compute = compute
        self._values = RecentValues[T]()

    def get(self) -> T:
        """The value; the first call waits for it. Raises what computing it raises."""
        return self._values.get("", self._compute)

    def get_within(self, seconds: float) -> T | None:
        """The value; None if it is not known after some seconds: it is still computed, for later calls."""
        return self._values.get_within(seconds, "", self._compute)
