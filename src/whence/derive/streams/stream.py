"""A running stream, of either kind of log."""

from typing import Protocol


class Stream(Protocol):
    """Derives what arrives until it is stopped or fails."""

    def catch_up(self) -> None:
        """Return once all that the log has now is derived. Raises what ended the stream."""

    def wait(self, seconds: int) -> bool:
        """Whether the stream ends within so many seconds. Raises what ended it."""

    def stop(self) -> None:
        """End it, and return once it has ended. A micro-batch that runs may be left: the next stream repeats it."""
