"""Lineage from dbt: a project's `target/` directory in, OpenLineage events out; no dbt needed (docs/dbt.md)."""

from collections.abc import Callable, Iterator
from pathlib import Path

from whence.capture.dbt.artifacts import read_project
from whence.capture.dbt.columns import catalog_of, folded
from whence.capture.dbt.commit import commit_of
from whence.capture.dbt.connection import Warehouse, profile_of, warehouse
from whence.capture.dbt.events import project_events
from whence.capture.dbt.project import Project
from whence.capture.dbt.runs import has_run
from whence.capture.sql import Catalog
from whence.openlineage.wire import Json

__all__ = ["Warehouse", "capture", "known_columns", "project_events", "read_project", "unread_results"]


def unread_results(target: Path) -> str:
    """Why the results in a `target/` directory give no runs; empty if they do, or if there are none.

    `dbt docs generate` writes results of its own over those of the build before it. Raises ArtifactError.
    """
    invocation = read_project(target).invocation
    if invocation is None or has_run(invocation):
        return ""
    command = invocation.command or "an unknown command"
    return (
        f"these are the results of `dbt {command}`, which builds and tests nothing: "
        "no run and no test result is captured. "
        "Capture after `dbt build`, before `dbt docs generate`; the catalog can be captured after it, once more"
    )


def known_columns(project: Project, dialect: str) -> Catalog:
    """The columns of a project's tables, of dbt's catalog, else as the project declares them. Raises DialectError."""
    return catalog_of(folded(project, dialect), dialect)


def capture(
    target: Path,
    *,
    namespace: str | None = None,
    jobs: str = "dbt",
    root: Path | None = None,
    columns: Callable[[Warehouse], Catalog] | None = None,
) -> Iterator[Json]:
    """The events of a `target/` directory. `namespace` is the warehouse's; without it the profile says it.

    `root` is the project's directory, `target`'s parent if not given. `columns` says what tables have of which the
    artifacts say nothing. Raises ArtifactError if there is no manifest, or
    nothing says where the warehouse is.
    """
    root = root or target.absolute().parent
    project = read_project(target)
    where = warehouse(project.adapter, profile_of(root, project.adapter), namespace)
    return project_events(project, where, jobs, commit_of(root), columns(where) if columns else None)
