"""The run that the calling code is in: of its thread, of its asyncio task, or of what started them."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from whence_client.events.runs import RunRef

_active: ContextVar[Any] = ContextVar("whence_run", default=None)


def active_run() -> RunRef | None:
    """The innermost run around the calling code; None if there is none in this process."""
    run = _active.get()
    return run.ref if run is not None else None


def active() -> Any:
    """The Run object of `active_run`."""
    return _active.get()


def enter(run: Any) -> Token[Any]:
    """Make a run, an object with `ref`, the active one."""
    return _active.set(run)


def leave(token: Token[Any]) -> None:
    """Make the run before it the active one again. Another context's token is left alone: a generator may end there."""
    try:
        _active.reset(token)
    except ValueError:
        _active.set(None)
