"""The run, job and commit around MLflow's runs, as their tags: `whence capture run mlflow` reads them.

MLflow asks each entry point of the group `mlflow.run_context_provider` when a run is created. The tags name the run of
Whence around it, the working directory, without which a relative path names no file, and the commit of the code.
"""

from __future__ import annotations

import os
import sys

from whence_client.captures.session import process_session
from whence_client.events.runs import RunRef
from whence_client.process.parent import format_parent
from whence_client.runs.code import CodeLocation

FOLDER, PARENT, ROOT = "whence.folder", "whence.parent", "whence.root"
COMMIT, REPOSITORY, BRANCH, PREFIX, DIRTY = (
    f"whence.{name}" for name in ("commit", "repository", "branch", "prefix", "dirty")
)


class RunContext:
    """A provider as MLflow wants it. It never raises: a run of MLflow is not ours to break."""

    def __init__(self) -> None:
        with process_session().guard("mlflow")("commit"):
            _location()  # MLflow makes the provider when it is imported: Git has until the first run

    def in_context(self) -> bool:
        """Always: each process has a working directory."""
        return True

    def tags(self) -> dict[str, str]:
        """The tags of a run that begins now."""
        session = process_session()
        return session.guard("mlflow").run("tags", run_tags, session.parent()) or {}


def run_tags(parent: RunRef | None) -> dict[str, str]:
    """The tags of a run in another run; None for a job that nobody started through Whence."""
    tags = {FOLDER: os.getcwd(), **_commit()}
    if parent is not None:
        tags[PARENT] = format_parent(parent)
        tags[ROOT] = format_parent(parent.root or parent)
    return tags


def _commit() -> dict[str, str]:
    commit = _location().commit()
    if commit is None:
        return {}
    dirty = "" if commit.dirty is None else str(commit.dirty)
    known = {COMMIT: commit.sha, REPOSITORY: commit.repository, BRANCH: commit.branch, PREFIX: commit.prefix}
    return {name: value for name, value in {**known, DIRTY: dirty}.items() if value}


def _location() -> CodeLocation:
    return CodeLocation(getattr(sys.modules.get("__main__"), "__file__", "") or "", 0)
