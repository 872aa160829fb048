"""Where the values of a column are in memory: what a frame and those made of it share without a copy.

The address comes by the Arrow PyCapsule interface (`__arrow_c_stream__`), which exports most buffers without a copy:
https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

import ctypes
from typing import Any


class _Array(ctypes.Structure):
    """ArrowArray of Arrow's C data interface."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream of Arrow's C stream interface."""


_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", _Release),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", _Next),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)

Address = tuple[int, int]


def find_address(series: Any, retaken: Any) -> Address | None:
    """The address of a column's first buffer of values and the number of its rows; None if it has none of its own.

    `retaken` is the same column, taken from its frame once more. Both exports are held at once: some columns are copied
    whenever they are taken (a repeated scalar, a struct), and the address of a copy means nothing.
    """
    first = _Export(series)
    try:
        second = _Export(retaken)
        try:
            return first.address if first.address == second.address else None
        finally:
            second.release()
    finally:
        first.release()


class _Export:
    """The first chunk of a column, exported. The capsule releases its stream; `release` frees the array."""

    def __init__(self, series: Any) -> None:
        capsule = series.__arrow_c_stream__()
        stream = _Stream.from_address(_pointer_of(capsule, b"arrow_array_stream"))
        self._array = _Array()
        failed = stream.get_next(ctypes.addressof(stream), ctypes.addressof(self._array))
        self.address: Address | None = None if failed or not self._array.release else self._read_address()

    def _read_address(self) -> Address | None:
        array = self._array
        if array.n_buffers < 2 or not array.length:
            return None
        start = array.buffers[1] or 0
        return (start + array.offset, array.length) if start else None

    def release(self) -> None:
        """Give the array back to the library that exported it."""
        if self._array.release:
            self._array.release(ctypes.addressof(self._array))
