"""The captures that are installed, and the attach captures of a process: found, installed once, taken back."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from whence_client.captures.contract import ATTACH, GROUP, Undo
from whence_client.captures.session import Session

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Registered:
    """An entry point of a capture. `problem`: why its object cannot be loaded."""

    entry: str
    capture: Any = None
    problem: str = ""


def registered_captures(entry: str = "") -> Iterator[Registered]:
    """All captures, or those whose entry point has this name. A capture that cannot be loaded has a problem."""
    return map(_load, (point for point in _entry_points() if not entry or point.name == entry))


def points_by_module() -> dict[str, list[Any]]:
    """The entry points of all captures by name, without loading any. It reads every distribution: call it once."""
    found: dict[str, list[Any]] = {}
    for point in _entry_points():
        found.setdefault(str(point.name), []).append(point)
    return found


_installed: dict[str, Undo] = {}
_engines: dict[str, frozenset[str]] = {}
"""The modules that the library of an installed capture executes with, which need no captures of their own for it."""


def install(capture: Any, session: Session, *, importer: str = "") -> Undo:
    """Install an attach capture, once in a process. Returns what takes it back; it never raises.

    `importer` is the package that has just imported the module.
    """
    name = str(capture.name)
    if name in _installed:
        return _installed[name]
    findings = capture.check()
    level = logging.INFO if name in _engines.get(importer, ()) else logging.WARNING
    for sentence in (*findings.problems, *findings.doubts):
        log.log(level, "%s: %s", name, sentence)
    if not findings.is_usable:
        return _nothing
    undo: Undo = session.guard(name).run("install", capture.install, session) or _nothing

    def undo_once() -> None:
        if _installed.pop(name, None) is not None:
            session.guard(name).run("undo", undo)

    _installed[name] = undo_once
    _engines[name] = frozenset(getattr(capture, "engines", ()))
    return undo_once


def install_points(points: Iterable[Any], session: Session, importer: str) -> None:
    """Install the attach captures of entry points; `importer` as in `install`."""
    for one in map(_load, points):
        if one.problem:
            log.warning("the capture of %s cannot be loaded: %s", one.entry, one.problem)
        elif getattr(one.capture, "kind", "") == ATTACH:
            install(one.capture, session, importer=importer)


def uninstall_all() -> None:
    """Take back all captures of this process."""
    for undo in list(_installed.values()):
        undo()


def _nothing() -> None:
    """The undo of a capture that is not there."""


def _load(point: Any) -> Registered:
    try:
        return Registered(point.name, point.load())
    except Exception as error:
        return Registered(point.name, problem=f"{type(error).__name__}: {error}")


def _entry_points() -> list[Any]:
    from importlib.metadata import entry_points

    found: Any = entry_points()
    points = found.select(group=GROUP) if hasattr(found, "select") else found.get(GROUP, ())  # Python 3.9 has a dict
    return sorted(points, key=lambda one: str(one.name))
