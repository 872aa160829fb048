"""An event log in segment files, for one machine. This package imports its reading half only."""

from whence.log.segments.read import committed, plan, read, start

__all__ = ["committed", "plan", "read", "start"]
