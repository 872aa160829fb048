"""Errors of single events, and of who sends them."""

from dataclasses import dataclass

from whence.errors.root import WhenceError


@dataclass(eq=False)
class EventError(WhenceError):
    """An event that cannot be read. `pointer` is an RFC 6901 JSON pointer into the body; status is the HTTP answer."""

    pointer: str
    reason: str
    status: int = 422

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.reason}"


@dataclass(eq=False)
class CollisionError(WhenceError):
    """Two different identities have the same 64-bit id; the later one is refused."""

    table: str

    def __str__(self) -> str:
        return f"two names hash to the same id in table {self.table}; rename one of them"


@dataclass(eq=False)
class RateLimitError(WhenceError):
    """One producer sends more than its share. Nothing of the request was taken."""

    door: str
    """Whose share: `peer`, the address, or `producer`."""
    reason: str
    seconds: int
    """When to send again."""

    def __str__(self) -> str:
        return f"{self.reason}; send it again in {self.seconds} s"


@dataclass(eq=False)
class ReceiptNotFoundError(WhenceError):
    """Nothing was received at this position, or with this key."""

    sought: str

    def __str__(self) -> str:
        return (
            f"no derived event has the key or position {self.sought!r}; `whence doctor` shows how far the pipeline is"
        )
