"""Warnings of the lenient reader about ignored parts, collected while one event is read."""

from collections.abc import Iterable

LIMIT = 20
LENGTH = 200

Note = tuple[str, str]
"""A JSON pointer, and the text."""


class Notes:
    """Collects warnings. They are returned sorted: the order of keys in the JSON must have no effect."""

    __slots__ = ("_notes",)

    def __init__(self) -> None:
        self._notes: set[Note] = set()

    def add(self, pointer: str, text: str) -> None:
        """Add a warning about the value at `pointer` (RFC 6901)."""
        self._notes.add((pointer, text))

    def add_all(self, notes: Iterable[Note]) -> None:
        """Add warnings that were collected apart."""
        self._notes.update(notes)

    def taken(self) -> tuple[Note, ...]:
        """All warnings, unordered."""
        return tuple(self._notes)

    def sorted(self) -> tuple[str, ...]:
        """The sorted warnings as texts: at most LIMIT, and one that counts the others."""
        if not self._notes:
            return ()
        texts = sorted({f"{pointer or '/'}: {text}"[:LENGTH] for pointer, text in self._notes})
        more = len(texts) - LIMIT
        return (*texts[:LIMIT], f"and {more} more") if more > 0 else tuple(texts)
