"""Recently appended event keys and their positions, to detect repeats."""

from whence.log.position import Position


class RecentKeys:
    """Keeps at least the last `capacity` keys and at most twice as many; drops a whole generation at once."""

    __slots__ = ("_capacity", "_old", "_young")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}

    def find(self, key: bytes) -> Position | None:
        """The position of a recently added key, or None."""
        position = self._young.get(key, self._old.get(key))
        return None if position is None else Position.from_int(position)

    def add(self, key: bytes, position: Position) -> None:
        """Record the position of a key."""
        self._young[key] = position.as_int
        if len(self._young) >= self._capacity:
            self._old, self._young = self._young, {}
