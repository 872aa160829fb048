"""The run that the calling code is in: of its thread, of its asyncio task, or of what started them.

While the main thread is in a run, the environment names it, so that processes started there report it as their parent.
"""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar, Token
from typing import Any

from whence_client.events.runs import RunRef
from whence_client.process.parent import PARENT, ROOT, child_environment, parent_of_process

_active: ContextVar[Any] = ContextVar("whence_run", default=None)
_main_runs: list[Any] = []
"""The runs that the main thread is in, the innermost last: those of several asyncio tasks, too."""
_inherited: dict[str, str | None] = {}
_lock = threading.Lock()


def active() -> Any:
    """The innermost Run object around the calling code; None if there is none in this process.

    A thread that is in no run of its own is in the main thread's: contexts do not pass into new threads.
    """
    run = _active.get()
    if run is None and _main_runs and threading.current_thread() is not threading.main_thread():
        return _main_runs[-1]
    return run


def outermost() -> Any:
    """The outermost Run object around the calling code: that of the whole program, if it has one."""
    return _main_runs[0] if _main_runs else _active.get()


def active_run() -> RunRef | None:
    """The innermost run around the calling code."""
    run = active()
    return run.ref if run is not None else None


def inherited_parent() -> RunRef | None:
    """The run that started this process."""
    if not _inherited:
        return parent_of_process()
    return parent_of_process({name: value for name, value in _inherited.items() if value})


def enter(run: Any) -> Token[Any]:
    """Make a run, an object with `ref`, the active one."""
    if threading.current_thread() is threading.main_thread():
        with _lock:
            _main_runs.append(run)
            _write_environment()
    return _active.set(run)


def leave(run: Any, token: Token[Any]) -> None:
    """Make the run before it the active one again."""
    with _lock:
        if any(one is run for one in _main_runs):
            _main_runs[:] = [one for one in _main_runs if one is not run]
            _write_environment()
    try:
        _active.reset(token)
    except ValueError:  # another context's token: a generator may end in another task than it began in
        _active.set(None)


def _write_environment() -> None:
    if not _inherited:
        _inherited.update({name: os.environ.get(name) for name in (PARENT, ROOT)})
    if _main_runs:
        os.environ.update(child_environment(_main_runs[-1].ref))
        return
    for name, value in _inherited.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    _inherited.clear()
