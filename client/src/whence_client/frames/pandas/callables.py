"""Functions that a job gives in the place of a key: what they compute has its own lineage."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable


def watch_key(key: Any, calls: threading.local) -> Any:
    """A key whose functions are watched: `frame[lambda t: t["x"] > 1]`. Within them calls count again."""
    if type(key) is tuple:
        return tuple(_watch(one, calls) if callable(one) else one for one in key)
    return _watch(key, calls) if callable(key) else key


def made_of(given: Any) -> Any:
    """An argument with what its watched functions returned in their place."""
    if type(given) is tuple:
        return tuple(map(made_of, given))
    return getattr(given, "made", given) if inspect.isfunction(given) else given


def _watch(function: Callable[..., Any], calls: threading.local) -> Callable[..., Any]:
    @functools.wraps(function)
    def watched(*args: Any, **named: Any) -> Any:
        calls.call = False
        try:
            watched.made = function(*args, **named)  # type: ignore[attr-defined]
        finally:
            calls.call = True
        return watched.made  # type: ignore[attr-defined]

    return watched
