"""What follows from texts, remembered up to a weight: what SQL gives can be far longer than its text."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """Keeps the latest used, at most `most` of them, where `weigh` says how much a value is (characters, bytes)."""

    def __init__(self, most: int, weigh: Callable[[T], int]) -> None:
        self._most, self._weigh = most, weigh
        self._weight = 0
        self._kept: OrderedDict[tuple[str, ...], tuple[T, int]] = OrderedDict()

    def of(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        """What follows from `key`, made if it is not remembered."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found[0]
        made = make()
        weight = sum(map(len, key)) + self._weigh(made)
        self._kept[key] = made, weight
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
        return made
