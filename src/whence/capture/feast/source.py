"""A registry of Feast as a capture: the feature views and services that changed since it was last read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.bi.changes import Clock, find_changes, utc_now
from whence.capture.bi.connections import read_connections
from whence.capture.bi.events import Record, record_events
from whence.capture.bi.reports import Found
from whence.capture.feast.data_sources import Places
from whence.capture.feast.registry import read_registry
from whence.capture.feast.reports import find_reports
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window

VERSIONS = Versions("0.67.0", "0.67.0")
"""Of Feast, whose registry was read; no package of it is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeastRegistry:
    """One project of a registry, in a file of JSON."""

    registry: Path
    places: Places
    project: str = ""
    namespace: str = ""
    clock: Clock = utc_now
    name: str = "feast"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The file, and the project if one was chosen."""
        project = f"#{self.project}" if self.project else ""
        return f"{self.registry.absolute().as_uri()}{project}"

    def check(self) -> Findings:
        """Whether the file is there."""
        return Findings() if self.registry.is_file() else Findings(problems=(f"there is no file {self.registry}",))

    def read(self) -> Found:
        """What the registry says now. Raises ArtifactError for a file that is none."""
        return find_reports(read_registry(self.registry, self.project), self.places, self.namespace)

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """What changed since the cursor. The file keeps nothing of the past: there is nothing in a window that ends."""
        if window.until is None:
            yield from find_changes(self.name, self.read(), cursor, self.clock)

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, naming)


@dataclass(frozen=True, slots=True)
class FeastCapture:
    """What the entry point `feast` names."""

    name: str = "feast"
    kind: str = READ
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "registry": "the registry as JSON: its protobuf message, or the output of feast registry-dump",
            "project": "the project, if the registry has several",
            "folder": "the folder of feature_store.yaml, below which the relative paths of files are",
            "connections": "a file of YAML with the URL of each database, by its system or the name of a data source",
            "columns": "a file with the columns of tables, as of whence capture sql-log --columns",
            "namespace": "the namespace of feature views and services; feast://PROJECT if not given",
        }
    )

    def check(self) -> Findings:
        """No package is needed: the registry is read from JSON."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any registry."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> FeastRegistry:
        """The capture of one registry. Raises ValueError for an option that is missing or wrong."""
        if not options.get("registry"):
            raise ValueError(f"no registry is given: set registry=FILE, {self.options['registry']}")
        given, folder = options.get("connections"), options.get("folder")
        connections = read_connections(Path(given), options.get("columns", "")) if given else {}
        return FeastRegistry(
            registry=Path(options["registry"]),
            places=Places(connections=connections, folder=Path(folder).absolute() if folder else None),
            project=options.get("project", ""),
            namespace=options.get("namespace", ""),
        )


capture = FeastCapture()
