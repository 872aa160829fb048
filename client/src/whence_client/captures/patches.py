"""Patches of other people's classes and modules, which can be taken back without a trace."""

from __future__ import annotations

import atexit
import functools
import threading
import weakref
from typing import Any, Callable

from whence_client.captures.contract import Undo
from whence_client.captures.guard import Guard
from whence_client.captures.replacements import find_by_name, pass_over

_ABSENT = object()
_MARK = "_whence_hooks"
"""The attribute of a module or class that has hooks."""

Observer = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
"""Gets the result, the positional and the named arguments of a call that succeeded."""


def hook_once(owner: Any, install: Callable[[], Undo]) -> Undo:
    """Put hooks into a module or class that has none. Returns what takes them back, which is nothing if it had some."""
    if is_hooked(owner):
        return lambda: None
    setattr(owner, _MARK, True)
    undo = install()

    def undo_all() -> None:
        undo()
        if is_hooked(owner):
            delattr(owner, _MARK)

    return undo_all


def is_hooked(owner: Any) -> bool:
    """Whether a module or class itself has hooks."""
    return _MARK in vars(owner)


class Patches:
    """The patches of one capture. `undo` restores the very objects that were there."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._replaced: list[tuple[Any, str, Any]] = []
        _of_process.add(self)

    def observe(self, owner: Any, name: str, observer: Observer) -> None:
        """Call `observer` after each successful call of a function or method. The call itself stays as it is."""
        guard, what = self._guard, f"{getattr(owner, '__name__', owner)}.{name}"

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def observed(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                guard.run(what, observer, result, args, kwargs)
                return result

            return observed

        self.replace(owner, name, make)

    def observe_outermost(self, owner: Any, name: str, observer: Observer, calls: threading.local) -> None:
        """Observe a call, but nothing that it calls in turn. `calls` is shared by all that are observed so."""
        guard = self._guard

        def make(original: Any) -> Any:
            @functools.wraps(original)
            def observed(*args: Any, **kwargs: Any) -> Any:
                if getattr(calls, "call", False):
                    return original(*args, **kwargs)
                calls.call = True
                try:
                    result = original(*args, **kwargs)
                finally:
                    calls.call = False
                guard.run(name, observer, result, args, kwargs)
                return result

            return observed

        self.replace(owner, name, make)

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Put `make(original)` in the place of an attribute. Nothing happens if it is not there."""
        own = vars(owner).get(name, _ABSENT)
        original = getattr(owner, name, _ABSENT) if own is _ABSENT else own
        if original is _ABSENT:
            self._guard.note(name, f"{owner!r} has no {name}; it is not observed")
            return
        if isinstance(original, (staticmethod, classmethod)):
            replacement: Any = type(original)(pass_over(make(original.__func__), original.__func__))
        else:
            replacement = find_by_name(pass_over(make(original), original), owner, name)
        setattr(owner, name, replacement)
        self._replaced.append((owner, name, own))

    def undo(self) -> None:
        """Take all patches back, the latest first."""
        while self._replaced:
            owner, name, own = self._replaced.pop()
            if own is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, own)


_of_process: weakref.WeakSet[Patches] = weakref.WeakSet()


def _undo_all() -> None:
    """Take back all patches of the process: a library that outlives it would keep what its hooks refer to."""
    for patches in list(_of_process):
        patches.undo()


atexit.register(_undo_all)
