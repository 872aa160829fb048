"""Two `target/` directories of dbt: what a project builds at the two ends of a change, and the edges of its code."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from whence.capture.dbt.code import project_code
from whence.capture.dbt.source import Artifacts, DbtProject
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.cli.gate.code_versions import with_content
from whence.cli.gate.heads import Compared
from whence.govern.gate.project import CodeEdges, edges_of, project_of
from whence_client.captures import Naming

_JOBS = "dbt"
"""The namespace of the jobs of edges; only their ends are compared."""


@dataclass(frozen=True, kw_only=True)
class DbtTargets:
    """The directories that dbt wrote at the merge base and at the head. `namespace` is the warehouse's; by default it
    comes from the profile. `repository` is the checkout.
    """

    base: Path
    head: Path
    repository: Path
    namespace: str = ""

    def has(self, file: str) -> bool:
        """Whether a file of the repository is part of the project, whose compiled code is compared."""
        return self._folder is not None and (self._folder in ("", ".") or file.startswith(f"{self._folder}/"))

    @cached_property
    def _folder(self) -> str | None:
        """The project's folder in the repository; None if the directory is elsewhere."""
        folder, root = self.head.resolve().parent, self.repository.resolve()
        return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else None


def dbt_targets(head: Path | None, base: Path | None, repository: Path, namespace: str) -> DbtTargets | None:
    """The directories, if both are given."""
    if head is None or base is None:
        return None
    return DbtTargets(base=base, head=head, repository=repository, namespace=namespace)


def compare_dbt(targets: DbtTargets) -> Compared:
    """What a project changes. Raises ArtifactError without a manifest, or if the warehouse is unknown."""
    base, head = (read_target(target, targets.namespace) for target in (targets.base, targets.head))
    versions = project_code(base.project, base.warehouse), project_code(head.project, head.warehouse)
    changes = with_content(compare_projects(*versions), *versions)
    project = project_of([_edges(targets.base, base)], [_edges(targets.head, head)])
    return Compared(changes=changes, project=project)


def read_target(target: Path, namespace: str) -> Artifacts:
    """The artifacts of a target directory. Raises ArtifactError."""
    return DbtProject(target=target, namespace=namespace or None).read()


def _edges(target: Path, artifacts: Artifacts) -> CodeEdges:
    return edges_of(DbtProject(target=target).translate(artifacts, Naming(_JOBS)))
