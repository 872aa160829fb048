"""A dbt project as a capture: its artifacts are one record, which is new when one of them has changed."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from whence.capture.dbt.artifacts.commit import Commit, commit_of
from whence.capture.dbt.artifacts.connection import Warehouse, profile_of, warehouse
from whence.capture.dbt.artifacts.files import read_project
from whence.capture.dbt.artifacts.project import Project
from whence.capture.dbt.events import project_events
from whence.capture.sql import Catalog
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window
from whence_client.events.runs import RunRef

_ARTIFACTS = ("manifest.json", "run_results.json", "catalog.json", "sources.json", "semantic_manifest.json")

VERSIONS = Versions("1.3", "1.11")


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What is read of a project, before it becomes events."""

    project: Project
    warehouse: Warehouse
    commit: Commit | None
    columns: Catalog | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DbtProject:
    """One project's `target/` directory. `columns` returns the columns of tables that the artifacts lack.

    `parent`: the run that dbt's command is a part of.
    """

    target: Path
    namespace: str | None = None
    root: Path | None = None
    columns: Callable[[Warehouse], Catalog] | None = None
    parent: RunRef | None = None
    name: str = "dbt"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The directory, as a URI."""
        return self.target.absolute().as_uri()

    def check(self) -> Findings:
        """Whether there is a manifest."""
        has_manifest = (self.target / "manifest.json").is_file()
        return Findings(problems=() if has_manifest else (f"no manifest.json in {self.target}; run `dbt build` first",))

    def records(self, cursor: object, window: Window) -> Iterator[tuple[Artifacts, str]]:
        """The artifacts, unless the cursor is theirs. Raises ArtifactError."""
        digest = self._digest()
        if digest != cursor:
            yield self.read(), digest

    def read(self) -> Artifacts:
        """The artifacts as they are. Raises ArtifactError if there is no manifest, or the warehouse is unknown."""
        root = self.root or self.target.absolute().parent
        project = read_project(self.target)
        target = project.invocation.target if project.invocation else ""
        where = warehouse(project.adapter, profile_of(root, project.adapter, target), self.namespace)
        return Artifacts(project, where, commit_of(root), self.columns(where) if self.columns else None)

    def translate(self, record: Artifacts, naming: Naming) -> Iterator[Json]:
        """All events of the project, the same for the same artifacts."""
        return project_events(
            record.project, record.warehouse, naming.namespace, record.commit, record.columns, self.parent
        )

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for name in _ARTIFACTS:
            path = self.target / name
            digest.update(path.read_bytes() if path.is_file() else b"\0")
        return digest.hexdigest()


class DbtCapture:
    """What the entry point `dbt` names."""

    name, kind, versions = "dbt", READ, VERSIONS
    options: Mapping[str, str] = {
        "target": "the project's target directory, with manifest.json",
        "namespace": "the warehouse, such as postgres://host:5432; else as profiles.yml says",
        "project-dir": "where the project lies; the directory above target if not given",
    }

    def check(self) -> Findings:
        """dbt itself is not needed."""
        return Findings()

    def translate(self, record: Artifacts, naming: Naming) -> Iterator[Json]:
        """As of any project."""
        return DbtProject(target=Path()).translate(record, naming)

    def configure(self, options: Mapping[str, str]) -> DbtProject:
        """The capture of one project. Raises ValueError without `target`."""
        if "target" not in options:
            raise ValueError("no dbt project is given: set target=DIRECTORY, the directory of manifest.json")
        root = options.get("project-dir")
        target = Path(options["target"])
        return DbtProject(target=target, namespace=options.get("namespace"), root=Path(root) if root else None)


capture = DbtCapture()
