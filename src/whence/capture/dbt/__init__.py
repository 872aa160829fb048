"""Lineage from dbt: a project's `target/` directory in, OpenLineage events out; no dbt needed (docs/dbt.md)."""

from collections.abc import Callable, Iterator
from pathlib import Path

from whence.capture.dbt.artifacts import read_project
from whence.capture.dbt.columns import catalog_of, folded
from whence.capture.dbt.commit import commit_of
from whence.capture.dbt.connection import Warehouse, profile_of, warehouse
from whence.capture.dbt.events import project_events
from whence.capture.dbt.project import Project
from whence.capture.sql import Catalog
from whence.openlineage.wire import Json

__all__ = ["Warehouse", "capture", "known_columns", "project_events", "read_project"]


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
