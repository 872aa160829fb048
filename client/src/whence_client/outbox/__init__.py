"""The way of events out of a process: first into a file, then to the collector, from a thread of its own.

Nothing here raises into the job, waits for the collector in the job's thread, or loses an event silently.
"""

from whence_client.outbox.outbox import Outbox, OutboxStatus, process_outbox

__all__ = ["Outbox", "OutboxStatus", "process_outbox"]
