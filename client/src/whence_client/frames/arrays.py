"""Arrays of numpy in memory: which lineage one has, and whether it still holds the values that it had.

An array has no columns by name and may be changed in place, which nobody sees. So an array is known by the object that
owns its values, and a checksum of them tells whether it was changed. Views of it are known by their addresses.
"""

from __future__ import annotations

import threading
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

from whence_client.frames.frames import FrameLineage, unknown_frame
from whence_client.lineage.columns import LEFT_THE_ENGINE

_MOST_VALUES = 4_000_000
"""Of a larger array, a sample of this size is compared."""


@dataclass(frozen=True)
class _Entry:
    """The lineage of an array at an address; `lineage` has a column for each of its columns, in order."""

    owner: weakref.ref[Any]
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    checksum: int
    lineage: FrameLineage


class ArrayMemory:
    """The lineage of arrays. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_owner: dict[int, tuple[_Entry, ...]] = {}

    def remember(self, array: Any, lineage: FrameLineage) -> None:
        """Keep the lineage of an array, as long as its values are in memory."""
        owner = _owner_of(array)
        key = id(owner)

        def forget(reference: weakref.ref[Any]) -> None:
            self._by_owner.pop(key, None)

        entry = _Entry(
            weakref.ref(owner, forget), _address(array), array.shape, array.strides, _checksum(owner), lineage
        )
        with self._lock:
            others = (one for one in self._by_owner.get(key, ()) if one.owner() is owner and not _is_same(one, entry))
            self._by_owner[key] = (*others, entry)

    def find(self, array: Any) -> FrameLineage | None:
        """The lineage of an array or of a view of one; None if nobody remembered it.

        The columns have no known source if the values have changed.
        """
        owner = _owner_of(array)
        for entry in reversed(self._by_owner.get(id(owner), ())):
            if entry.owner() is owner:
                found = _select_columns(entry, array)
                if found is not None:
                    return (
                        found if _checksum(owner) == entry.checksum else unknown_frame(found.columns, LEFT_THE_ENGINE)
                    )
        return None


def is_array(thing: Any) -> bool:
    """Whether it is an array of numpy. Numpy is not imported for it."""
    return type(thing).__name__ == "ndarray" and type(thing).__module__ == "numpy"


def _owner_of(array: Any) -> Any:
    """The array that owns the values."""
    owner = array
    while is_array(getattr(owner, "base", None)):
        owner = owner.base
    return owner


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _is_same(one: _Entry, other: _Entry) -> bool:
    return (one.start, one.shape, one.strides) == (other.start, other.shape, other.strides)


def _checksum(owner: Any) -> int:
    flat = owner.ravel(order="K")
    return zlib.crc32(flat[:: max(1, flat.size // _MOST_VALUES)].tobytes())


def _select_columns(entry: _Entry, array: Any) -> FrameLineage | None:
    """The columns of a remembered array that another has, if it lies within it."""
    lineage, labels = entry.lineage, list(entry.lineage.columns)
    offset = _address(array) - entry.start
    if (offset, array.shape, array.strides) == (0, entry.shape, entry.strides) or len(labels) == 1:
        return lineage
    if len(entry.shape) != 2 or array.ndim != 1 or offset < 0:
        return None
    of_rows, of_columns = entry.strides
    if of_rows <= 0 or of_columns <= 0 or array.strides[0] % of_rows:
        return None
    number = (offset % of_rows if of_rows > of_columns else offset) // of_columns
    if number >= len(labels):
        return None
    return FrameLineage({labels[number]: lineage.columns[labels[number]]}, lineage.rows, lineage.inputs)
