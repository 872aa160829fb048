"""Work that waits until the job imports a module; nothing is imported for a capture's sake."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, Callable

from whence_client.captures.contract import Undo
from whence_client.captures.registry import install_points, points_by_module
from whence_client.captures.session import Session, process_session
from whence_client.captures.workers import MODULES as WORKER_MODULES
from whence_client.captures.workers import prepare_workers


def install_on_import(session: Session | None = None) -> Undo:
    """Install each attach capture once its module is imported, and now for modules that are there already."""
    chosen = session or process_session()
    if any(isinstance(one, _Finder) and one.installs for one in sys.meta_path):
        return lambda: None

    points = points_by_module()

    def install(name: str) -> None:
        with chosen.guard("imports")(name):
            install_points(points[name], chosen, _importer())

    undone = [_call_after(_Finder(frozenset(points), install, installs=True)), _prepare_workers(chosen)]
    return lambda: _run_all(undone)


def _prepare_workers(session: Session) -> Undo:
    undone: list[Undo] = []

    def prepare(name: str) -> None:
        with session.guard("workers")(name):
            undone.append(prepare_workers(name))

    undone.append(_call_after(_Finder(frozenset(WORKER_MODULES), prepare)))
    return lambda: _run_all(undone)


def _run_all(undone: list[Undo]) -> None:
    while undone:
        undone.pop()()


def _importer() -> str:
    """The package whose code is importing something: the nearest that neither is ours nor does imports."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _package_of(frame) in ("importlib", "whence_client"):
        frame = frame.f_back
    return _package_of(frame)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def call_after_import(name: str, callback: Callable[[], None]) -> Undo:
    """Call `callback`, which must not raise, once a module is imported: now if it is there already."""
    return _call_after(_Finder(frozenset((name,)), lambda _: callback()))


def _call_after(finder: _Finder) -> Undo:
    sys.meta_path.insert(0, finder)
    for name in sorted(finder.names & set(sys.modules)):
        finder.callback(name)

    def undo() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return undo


class _Finder(MetaPathFinder):
    """Lets the other finders find a module, and wraps the loader of those that somebody waits for.

    `installs`: whether it installs captures; a process has one such finder.
    """

    def __init__(self, names: frozenset[str], callback: Callable[[str], None], *, installs: bool = False) -> None:
        self.names, self.callback, self.installs = names, callback, installs

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self.names:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, lambda: self.callback(name))
                return spec  # type: ignore[no-any-return]
        return None


class _Loader(Loader):
    """The module's own loader, and the callback after it. Everything else is asked of the own one."""

    def __init__(self, loader: Any, callback: Callable[[], None]) -> None:
        self._loader, self._callback = loader, callback

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._loader, attribute)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._callback()
