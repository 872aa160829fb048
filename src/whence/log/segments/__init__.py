"""An event log in segment files, for one machine. This package imports only its reading half."""

from whence.log.segments.read import committed_end, plan_ranges, read_records, start_position

__all__ = ["committed_end", "plan_ranges", "read_records", "start_position"]
