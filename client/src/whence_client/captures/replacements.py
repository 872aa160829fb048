"""What a replacement keeps of the function that it replaces: the name that pickle looks up, the caller in warnings, the
signature and defaults that other libraries read.
"""

from __future__ import annotations

import inspect
import os
from types import CodeType, FunctionType, ModuleType
from typing import Any


def find_by_name(replacement: Any, owner: Any, name: str) -> Any:
    """The replacement of a function of a module, under the name by which pickle finds it: here, and in a process
    without captures.
    """
    if isinstance(owner, ModuleType) and isinstance(replacement, FunctionType):
        replacement.__module__, replacement.__qualname__ = owner.__name__, name
        _keep_signature(replacement)
    return replacement


def _keep_signature(replacement: Any) -> None:
    """Let those find the original's signature who do not look through wrappers, as `inspect.getfullargspec`."""
    try:
        replacement.__signature__ = inspect.signature(replacement)
    except (TypeError, ValueError):  # of a function that is not Python's, and has none
        return


def pass_over(replacement: Any, original: Any) -> Any:
    """The replacement, which warnings pass over: they name the line of the job that called it, as without it.

    Python itself passes over files with `importlib` and `_bootstrap` in their names. Some libraries count the callers
    in their own folder instead: the replacement counts there.
    """
    function = replacement.fget if isinstance(replacement, property) else replacement
    code = getattr(getattr(original, "fget", original), "__code__", None)
    if isinstance(function, FunctionType):
        file = _PASSED_OVER
        if code is not None and str(function.__module__).startswith(_COUNTING) and _counts_callers(code):
            file = os.path.join(os.path.dirname(code.co_filename), "<whence_client>")
        function.__code__ = function.__code__.replace(co_filename=file)
        if not function.__code__.co_argcount:  # else a call with too few arguments would take the wrong ones
            function.__defaults__ = getattr(original, "__defaults__", None)
        function.__kwdefaults__ = getattr(original, "__kwdefaults__", None)
    return replacement


def _counts_callers(code: CodeType) -> bool:
    """Whether a function warns at the level of its first caller elsewhere; else, if it warns, at a fixed level."""
    return "find_stack_level" in code.co_names or _FIXED.isdisjoint((*code.co_names, *code.co_freevars))


_COUNTING = ("pandas.", "polars.")
_FIXED = frozenset(("warn", "stacklevel", "_check_inplace_deprecation"))
"""Names in functions of pandas that warn at a fixed level: the last is one of pandas 3.1."""
_PASSED_OVER = "<whence_client, importlib._bootstrap>"
