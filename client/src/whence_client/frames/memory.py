"""Which lineage a frame in memory has: by the object, or by the buffers that it shares with the frame it came from.

Nothing here keeps data alive. An entry by object ends with the object; entries by buffers are bounded in number.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from whence_client.captures.session import Session
from whence_client.frames.addresses import find_address
from whence_client.frames.arrays import ArrayMemory, is_array
from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
from whence_client.lineage.columns import LEFT_THE_ENGINE, unknown

_MOST_COLUMNS = 65_536
_MOST_FRAMES = 4
"""The latest frames that are known to share a column."""

TakeColumns = Callable[[], Sequence[Any]]
"""Takes the columns of a frame: each has `name`, `dtype`, `null_count()`, items, and the Arrow PyCapsule interface."""

Mark = Hashable
"""What tells a column from one that lies at its address later: name, type, nulls, the first and the last value."""


@dataclass(frozen=True)
class _Entry:
    """The lineage of a frame, and the frame while it lives."""

    lineage: FrameLineage
    frame: weakref.ref[Any]


class FrameMemory:
    """The lineage of frames in memory. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_object: dict[int, _Entry] = {}
        self._by_mark: OrderedDict[Mark, tuple[_Entry, ...]] = OrderedDict()
        self._arrays = ArrayMemory()
        self.calls = threading.local()
        """`call` is true while a hooked call runs: only the outermost counts, whichever library it is of."""
        self.find_planned: Callable[[Any], FrameLineage | None] = lambda frame: None
        """The lineage that a lazy frame will have; None for other things. The capture of polars reads its plan."""

    def remember(self, frame: Any, lineage: FrameLineage, take_columns: TakeColumns | None = None) -> None:
        """Keep the lineage of a frame or array; with `take_columns` also of the buffers of its columns."""
        if is_array(frame):
            self._arrays.remember(frame, lineage)
            return
        key = id(frame)

        def forget(reference: weakref.ref[Any]) -> None:
            found = self._by_object.get(key)
            if found and found.frame is reference:
                self._by_object.pop(key, None)

        entry = _Entry(lineage, weakref.ref(frame, forget))
        marks = [mark for _, mark in list_marks(take_columns) if mark] if take_columns else []
        with self._lock:
            self._by_object[key] = entry
            for mark in marks:
                others = self._by_mark.pop(mark, ())
                self._by_mark[mark] = (entry, *others[: _MOST_FRAMES - 1])
            while len(self._by_mark) > _MOST_COLUMNS:
                self._by_mark.popitem(last=False)

    def find(self, frame: Any) -> FrameLineage | None:
        """The lineage of this very frame, or of an array; None if nobody remembered one."""
        if is_array(frame):
            return self._arrays.find(frame)
        found = self._by_object.get(id(frame))
        return found.lineage if found and found.frame() is frame else None

    def find_by_buffers(self, take_columns: TakeColumns) -> FrameLineage | None:
        """The lineage of a frame that shares the buffers of remembered ones; None if it shares none.

        Each column has the lineage of the frame that its buffer came from. A type whose export is a copy (structs, some
        lists) has no lasting address: such a column is found if all others came from one frame of the same columns.
        The address of a frame that is gone may be another's now: it counts only if all columns agree. What is not known
        of a column is no doubt about the rows: they are those of the buffers that are shared.
        """
        marks = list_marks(take_columns)
        names = [name for name, _ in marks]
        candidates = {name: self._by_mark.get(mark, ()) for name, mark in marks if mark}
        shared = _find_shared(list(candidates.values()), names)
        found = {
            name: shared or next((one for one in each if one.frame() is not None), None)
            for name, each in candidates.items()
        }
        found = {name: found.get(name) for name in names}
        used = {id(one): one.lineage for one in found.values() if one is not None}
        if not used:
            return None
        only = next(iter(used.values()))
        whole = only if shared and list(only.columns) == names else FrameLineage()
        made = {name: (one.lineage if one else whole).columns.get(name) or _UNKNOWN for name, one in found.items()}
        return FrameLineage(made, join_rows(used.values()), join_inputs(used.values()))


def _find_shared(candidates: list[tuple[_Entry, ...]], names: list[str]) -> _Entry | None:
    """The frame that all columns may be of: the latest one with just these columns, else the latest one."""
    if not candidates:
        return None
    others = [{id(one) for one in each} for each in candidates[1:]]
    shared = [one for one in candidates[0] if all(id(one) in each for each in others)]
    return next((one for one in shared if list(one.lineage.columns) == names), shared[0] if shared else None)


_of_sessions: weakref.WeakKeyDictionary[Session, FrameMemory] = weakref.WeakKeyDictionary()


def memory_of(session: Session) -> FrameMemory:
    """The memory that all captures of a session share: frames pass from one library to another."""
    return _of_sessions.setdefault(session, FrameMemory())


_UNKNOWN = unknown(LEFT_THE_ENGINE)


def list_marks(take_columns: TakeColumns) -> list[tuple[str, Mark | None]]:
    """The name of each column, and its mark if its values have an address. Values are in it only as their hash."""
    return [(str(column.name), _mark(column, second)) for column, second in zip(take_columns(), take_columns())]


def _mark(column: Any, second: Any) -> Mark | None:
    address = find_address(column, second)
    if address is None:
        return None
    ends = hash((repr(column[0]), repr(column[-1])))
    return column.name, address, str(column.dtype), column.null_count(), ends
