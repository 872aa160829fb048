"""A cache bounded by weight: results of SQL can be far longer than the SQL text."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
T = TypeVar("T")


class BoundedCache(Generic[Key, T]):
    """Keeps the most recently used values up to a total weight of `most`; `weigh` returns the weight of a key
    and its value.
    """

    def __init__(self, most: int, weigh: Callable[[Key, T], int]) -> None:
        self._most, self._weigh = most, weigh
        self._weight = 0
        self._kept: OrderedDict[Key, tuple[T, int]] = OrderedDict()

    def get_or_make(self, key: Key, make: Callable[[], T]) -> T:
        """The value of `key`, made if it is not cached."""
        entry = self._kept.get(key)
        if entry is not None:
            self._kept.move_to_end(key)
            return entry[0]
        value = make()
        weight = self._weigh(key, value)
        self._kept[key] = value, weight
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
        return value
