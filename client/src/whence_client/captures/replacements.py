"""What a replacement keeps of the function that it replaces: the name that pickle looks up, the caller in warnings."""

from __future__ import annotations

import os
from types import FunctionType, ModuleType
from typing import Any


def find_by_name(replacement: Any, owner: Any, name: str) -> Any:
    """The replacement of a function of a module, under the name by which pickle finds it: here, and in a process
    without captures.
    """
    if isinstance(owner, ModuleType) and isinstance(replacement, FunctionType):
        replacement.__module__, replacement.__qualname__ = owner.__name__, name
    return replacement


def pass_over(replacement: Any, original: Any) -> Any:
    """The replacement, which warnings pass over: they name the line of the job that called it, as without it.

    Python itself passes over files with `importlib` and `_bootstrap` in their names. Some libraries count the callers
    in their own folder instead: the replacement counts there.
    """
    function = replacement.fget if isinstance(replacement, property) else replacement
    code = getattr(getattr(original, "fget", original), "__code__", None)
    if isinstance(function, FunctionType):
        file = _PASSED_OVER
        if code is not None and str(function.__module__).startswith(_COUNTING):
            file = os.path.join(os.path.dirname(code.co_filename), "<whence_client>")
        function.__code__ = function.__code__.replace(co_filename=file)
    return replacement


_COUNTING = ("pandas.", "polars.")
_PASSED_OVER = "<whence_client, importlib._bootstrap>"
