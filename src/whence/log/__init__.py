"""The memory: an append-only event log in segment files. This package imports its reading half only."""

from whence.log.position import Position
from whence.log.read import boundary, committed, last, plan, read, start
from whence.log.record import Kind, Record

__all__ = ["Kind", "Position", "Record", "boundary", "committed", "last", "plan", "read", "start"]
