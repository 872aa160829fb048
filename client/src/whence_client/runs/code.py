"""Where the code of a job is, and its commit: looked up in a thread, since Git takes longer than a hook may."""

from __future__ import annotations

import os
import sys
from threading import Event, Thread

from whence_client.events.facets import Facet
from whence_client.process.commit import Commit, code_facets, commit_of

_WAIT_SECONDS = 0.25


class CodeLocation:
    """A file and line, and the commit of its folder, which is asked for once in a process."""

    def __init__(self, path: str, line: int) -> None:
        self.path, self.line = os.path.abspath(path) if path else "", line
        self._lookup = _lookup(os.path.dirname(self.path)) if os.path.isfile(self.path) else None

    def facets(self, *, wait: bool = False) -> dict[str, Facet]:
        """The job facets of the code. Without the commit if it is not known yet, and `wait` did not help."""
        if self._lookup is None:
            return {}
        if wait:
            self._lookup.done.wait(_WAIT_SECONDS)
        elif not self._lookup.done.is_set():
            return {}
        return code_facets(self.path, self.line, self._lookup.commit)

    def commit(self) -> Commit | None:
        """The commit of the code, waited for a moment; None if it is not known by then."""
        if self._lookup is None:
            return None
        self._lookup.done.wait(_WAIT_SECONDS)
        return self._lookup.commit


class _Lookup:
    """The commit of one folder, as soon as `done`."""

    def __init__(self, folder: str) -> None:
        self.done = Event()
        self.commit: Commit | None = None
        Thread(target=self._run, args=(folder,), name="whence-commit", daemon=True).start()

    def _run(self, folder: str) -> None:
        try:
            self.commit = commit_of(folder)
        finally:
            self.done.set()


_lookups: dict[str, _Lookup] = {}


def _lookup(folder: str) -> _Lookup:
    if folder not in _lookups:
        _lookups[folder] = _Lookup(folder)
    return _lookups[folder]


def caller_location() -> CodeLocation:
    """The place of the nearest calling code that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("whence_client"):
        frame = frame.f_back
    return CodeLocation(frame.f_code.co_filename, frame.f_lineno)
