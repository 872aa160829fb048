"""Lineage from dbt: OpenLineage events from a project's `target/` directory; dbt is not needed (docs/how-to/dbt.md)."""

from collections.abc import Callable, Iterator
from pathlib import Path

from whence.capture.dbt.artifacts.columns import catalog_of, fold_columns
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.files import read_project
from whence.capture.dbt.artifacts.project import Project
from whence.capture.dbt.events import project_events
from whence.capture.dbt.runs import has_run
from whence.capture.dbt.source import DbtProject
from whence.capture.sql import Catalog
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.runs import RunRef

__all__ = ["Warehouse", "capture", "known_columns", "project_events", "read_project", "unread_results"]


def unread_results(target: Path) -> str:
    """The reason that the results in a `target/` directory yield no runs; empty if they do, or if there are none.

    `dbt docs generate` overwrites the results of the build before it. Raises ArtifactError.
    """
    invocation = read_project(target).invocation
    if invocation is None or has_run(invocation):
        return ""
    command = {"generate": "docs generate"}.get(invocation.command, invocation.command) or "an unknown command"
    return (
        f"these are the results of `dbt {command}`, which builds and tests nothing: "
        "no run and no test result is captured. "
        "Capture after `dbt build`, before `dbt docs generate`; the catalog can be captured after it, once more"
    )


def known_columns(project: Project, dialect: str) -> Catalog:
    """The columns of a project's tables, from dbt's catalog, else from an enforced contract. Raises DialectError."""
    return catalog_of(fold_columns(project, dialect), dialect)


def capture(
    target: Path,
    *,
    namespace: str | None = None,
    jobs: str = "dbt",
    root: Path | None = None,
    columns: Callable[[Warehouse], Catalog] | None = None,
    parent: RunRef | None = None,
) -> Iterator[Json]:
    """Yield the events of a `target/` directory. `namespace` is the warehouse's; by default it comes from the profile.

    `root` is the project's directory, by default `target`'s parent. `columns` returns the columns of tables that the
    artifacts lack. `parent` is the run that dbt's command is a part of.

    Raises ArtifactError if there is no manifest, or the warehouse's address is unknown.
    """
    project = DbtProject(target=target, namespace=namespace, root=root, columns=columns, parent=parent)
    return project.translate(project.read(), Naming(jobs))
