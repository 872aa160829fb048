"""Where models are saved and loaded: `joblib` and `pickle`."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from whence_client.captures.patches import Observer, Patches
from whence_client.sklearn.estimators import Estimators


def hook_files(patches: Patches, calls: Any, estimators: Estimators) -> None:
    """Observe what is written and read, by the job itself."""
    owners: list[Any] = [pickle, *([sys.modules["joblib"]] if "joblib" in sys.modules else [])]
    for owner in owners:
        patches.observe(owner, "dump", _outermost(calls, lambda result, args, named: _save(estimators, args, named)))
        patches.observe(
            owner, "load", _outermost(calls, lambda result, args, named: _load(estimators, result, args, named))
        )


def _outermost(calls: Any, observer: Observer) -> Observer:
    def observe(result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if not getattr(calls, "call", False):
            observer(result, args, named)

    return observe


def _save(estimators: Estimators, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    value = args[0] if args else named.get("value", named.get("obj"))
    path = _path(args[1] if len(args) > 1 else named.get("filename", named.get("file")))
    if path:
        estimators.on_save(value, path)


def _load(estimators: Estimators, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    path = _path(args[0] if args else named.get("filename", named.get("file")))
    if path:
        estimators.on_load(result, path)


def _path(target: Any) -> str:
    """The path of a file, given as a path or as an open file; empty for what has none."""
    named = target if isinstance(target, (str, os.PathLike)) else getattr(target, "name", "")
    path = os.fspath(named) if isinstance(named, (str, os.PathLike)) else ""
    return path if isinstance(path, str) else ""
