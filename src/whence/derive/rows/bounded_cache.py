"""A cache bounded by weight: results of SQL can be far longer than the SQL text."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Keeps the most recently used values up to a total weight of `most`; `weigh` returns a value's weight."""

    def __init__(self, most: int, weigh: Callable[[T], int]) -> None:
        self._most, self._weigh = most, weigh
        self._weight = 0
        self._kept: OrderedDict[tuple[str, ...], tuple[T, int]] = OrderedDict()

    def get_or_make(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        """The value of `key`, made if it is not cached."""
        entry = self._kept.get(key)
        if entry is not None:
            self._kept.move_to_end(key)
            return entry[0]
        value = make()
        weight = sum(map(len, key)) + self._weigh(value)
        self._kept[key] = value, weight
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
        return value
