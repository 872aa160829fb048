"""Functions of the job that pandas calls within a method: calls within them count, and their results have lineage."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Callable

from whence_client.captures.guard import Guard
from whence_client.frames.frames import FrameLineage
from whence_client.frames.memory import FrameMemory
from whence_client.frames.pandas.calls import value_column
from whence_client.lineage.columns import EMPTY

KEYED = ("__getitem__", "__setitem__")
"""Methods that call their key: `frame[lambda f: f["x"] > 1]`."""
CHOOSING = ("where", "mask")
"""Methods that call a condition and another value."""


class Called:
    """A function in the place of the job's own. `made` is its result, once pandas has called it."""

    def __init__(
        self, function: Callable[[Any], Any], calls: threading.local, prepare: Callable[[Any], None] | None = None
    ) -> None:
        self._function, self._calls, self._prepare = function, calls, prepare
        self.made: Any = None
        self.is_made = False

    def __call__(self, frame: Any) -> Any:
        self._calls.call = False
        try:
            if self._prepare is not None:
                self._prepare(frame)
            self.made = self._function(frame)
        finally:
            self._calls.call = True
        self.is_made = True
        return self.made


def _watch(value: Any, calls: threading.local) -> Any:
    return Called(value, calls) if callable(value) else value


def watch_location(args: tuple[Any, ...], calls: threading.local) -> tuple[Any, ...]:
    """The arguments of `loc` and `iloc`: a function, or some in a tuple for rows and columns, are called."""
    key, *rest = args
    if type(key) is tuple:
        return (tuple(_watch(one, calls) for one in key), *rest)
    return (_watch(key, calls), *rest)


def watch_arguments(
    name: str, args: tuple[Any, ...], named: dict[str, Any], calls: threading.local
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a method, its object first, with those watched that it calls."""
    owner, *given = args
    if name in KEYED and given and callable(given[0]):
        return (owner, _watch(given[0], calls), *given[1:]), named
    if name in CHOOSING:
        watched = {label: _watch(one, calls) if label in ("cond", "other") else one for label, one in named.items()}
        return (owner, *(_watch(one, calls) for one in given[:2]), *given[2:]), watched
    return args, named


def result_of(value: Any) -> Any:
    """What a watched function gave; other values as they are."""
    if type(value) is tuple and any(isinstance(one, Called) for one in value):
        return tuple(map(result_of, value))
    return value.made if isinstance(value, Called) else value


def watch_assigned(
    values: Mapping[str, Any], before: FrameLineage | None, memory: FrameMemory, guard: Guard
) -> dict[str, Any]:
    """The values given to `assign`, with its functions watched. Each gets a frame that has the columns so far."""
    watched: dict[str, Any] = {}

    def prepare(frame: Any) -> None:
        if before is not None:
            guard.run("assign", _remember_copy, frame, before, watched, memory)

    for label, value in values.items():
        watched[label] = Called(value, memory.calls, prepare) if callable(value) else value
    return watched


def _remember_copy(frame: Any, before: FrameLineage, values: Mapping[str, Any], memory: FrameMemory) -> None:
    """The frame that `assign` gives to a function."""
    memory.remember(frame, before)
    columns = dict(before.columns)
    for label, value in values.items():
        if isinstance(value, Called) and not value.is_made:
            break
        columns[label] = value_column(result_of(value), memory.find, before.rows, frame)
    kept = {label: columns.get(label, EMPTY) for label in frame.columns}
    memory.remember(frame, replace(before, columns=kept))
