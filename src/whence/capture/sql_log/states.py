"""How a logged query ended, and the engine's id of its execution."""

from whence.model.events import RunState

_FAILED = ("FAIL", "FAILED", "FAILED_WITH_ERROR", "FAILED_WITH_INCIDENT", "INCIDENT", "ERROR")
ABORTED = ("CANCELED", "CANCELLED", "ABORTED", "USER_CANCELED", "ADMINISTRATIVELY_KILLED")
"""What engines call a query that somebody stopped."""


def state_of(status_text: str, error: str) -> RunState:
    """The state of a run, from what the engine calls it and the error that it reports; COMPLETE if it says neither."""
    status = status_text.upper()
    if status in ABORTED:
        return RunState.ABORT
    return RunState.FAIL if status in _FAILED or error else RunState.COMPLETE


def execution_of(query_id: str) -> tuple[str, ...]:
    """What identifies an execution in its namespace; empty if the engine has no id for it."""
    return (query_id,) if query_id else ()
