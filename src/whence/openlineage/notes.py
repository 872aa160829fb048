"""Warnings: what the lenient reader passed over, collected while one event is read."""

LIMIT = 20
LENGTH = 200


class Notes:
    """Collects warnings. They come out sorted, since the order of keys on the wire must have no effect."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: set[str] = set()

    def add(self, pointer: str, text: str) -> None:
        """One warning about the value at `pointer` (RFC 6901)."""
        self._texts.add(f"{pointer or '/'}: {text}"[:LENGTH])

    def sorted(self) -> tuple[str, ...]:
        """The warnings, at most LIMIT of them and one that counts the others."""
        texts = sorted(self._texts)
        more = len(texts) - LIMIT
        return (*texts[:LIMIT], f"and {more} more") if more > 0 else tuple(texts)
