"""A running stream, of either kind of log."""

from typing import Protocol


class Stream(Protocol):
    """Derives what arrives until it is stopped or fails."""

    def catch_up(self) -> None:
        """Return once all that the log has now is derived. Raises the error that ended the stream."""

    def wait(self, seconds: int) -> bool:
        """Wait at most `seconds` for the stream to end. Returns whether it has; raises the error that ended it."""

    def stop(self) -> None:
        """End it, and return once it has ended. A micro-batch that runs may be left: the next stream repeats it."""
