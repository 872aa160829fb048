"""Warnings: what the lenient reader passed over, collected while one event is read."""

LIMIT = 20
LENGTH = 200

Note = tuple[str, str]
"""Where, and what."""


class Notes:
    """Collects warnings. They come out sorted, since the order of keys on the wire must have no effect."""

    __slots__ = ("_notes",)

    def __init__(self) -> None:
        self._notes: set[Note] = set()

    def add(self, pointer: str, text: str) -> None:
        """One warning about the value at `pointer` (RFC 6901)."""
        self._notes.add((pointer, text))

    def taken(self) -> tuple[Note, ...]:
        """All that was added, in no order."""
        return tuple(self._notes)

    def sorted(self) -> tuple[str, ...]:
        """The warnings, at most LIMIT of them and one that counts the others."""
        texts = sorted({f"{pointer or '/'}: {text}"[:LENGTH] for pointer, text in self._notes})
        more = len(texts) - LIMIT
        return (*texts[:LIMIT], f"and {more} more") if more > 0 else tuple(texts)
