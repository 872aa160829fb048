"""Python programs inside this process, as Python itself starts them: `__main__`, `sys.argv`, and `sys.path`."""

from __future__ import annotations

import os
import pkgutil
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

_COMPILED = ".pyc"


def run_program(target: Sequence[str]) -> None:
    """Run the target of a `PythonCommand`. Its `__main__` stays after it, for threads that continue."""
    sys.argv = list(target)
    main = ModuleType("__main__")
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    if target[0] == "-m":
        del sys.argv[0]
        _set_first_path(os.getcwd())
        _run_module(target[1], alter_argv=True)
    elif target[0] == "-c":
        del sys.argv[1]
        _set_first_path("")
        _run_code(main, target[1], "<string>")
    elif target[0] in ("-", ""):
        _set_first_path("")
        vars(main).update(__file__="<stdin>", __cached__=None)
        _run_code(main, sys.stdin.buffer.read(), "<stdin>")
    else:
        _run_path(main, target[0])


def _run_path(main: ModuleType, path: str) -> None:
    absolute = os.path.join(os.getcwd(), path)
    if pkgutil.get_importer(path) is not None:  # a folder or an archive
        _drop_first_path()
        sys.path.insert(0, absolute)
        _run_module("__main__", alter_argv=False)
        return
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    if path.endswith(_COMPILED):
        runpy.run_path(path, run_name="__main__")
        return
    with open(path, "rb") as file:
        source = file.read()
    vars(main).update(__file__=absolute, __cached__=None, __loader__=SourceFileLoader("__main__", absolute))
    _run_code(main, source, absolute)


def _run_code(main: ModuleType, source: str | bytes, filename: str) -> None:
    exec(compile(source, filename, "exec", dont_inherit=True), vars(main))


def _run_module(name: str, *, alter_argv: bool) -> None:
    """As the interpreter does for `-m`: it calls the same function of runpy."""
    run: Any = vars(runpy)["_run_module_as_main"]
    run(name, alter_argv)


def _set_first_path(folder: str) -> None:
    """Replace the folder of the program that started this process. An isolated Python has none."""
    if not _is_isolated():
        sys.path[0] = folder


def _drop_first_path() -> None:
    if not _is_isolated():
        del sys.path[0]


def _is_isolated() -> bool:
    return bool(sys.flags.isolated or getattr(sys.flags, "safe_path", False))
