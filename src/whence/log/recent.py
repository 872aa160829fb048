"""Which keys the log has seen of late, and where."""

from whence.log.position import Position


class RecentKeys:
    """Remembers at least the last `capacity` keys and at most twice as many; forgets a whole generation at once."""

    __slots__ = ("_capacity", "_old", "_young")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}

    def find(self, key: bytes) -> Position | None:
        """Where the key is, if it was seen of late."""
        found = self._young.get(key, self._old.get(key))
        return None if found is None else Position.from_int(found)

    def add(self, key: bytes, position: Position) -> None:
        """Remember that the key is at `position`."""
        self._young[key] = position.as_int
        if len(self._young) >= self._capacity:
            self._old, self._young = self._young, {}
