"""A folder of LookML as a capture: the dashboards and charts that changed since it was last read."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.bi.changes import Clock, find_changes, utc_now
from whence.capture.bi.connections import Connection, read_connections
from whence.capture.bi.events import Record, record_events
from whence.capture.bi.lookml.dashboards import Place, find_reports
from whence.capture.bi.lookml.files import read_project, read_texts
from whence.capture.bi.reports import Found
from whence.capture.polling.http_source import name_server, require_url
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window, check_package
from whence_client.redaction.credentials import strip_credentials

VERSIONS = Versions("1.3.0", "1.3.7")
"""Of lkml, which parses the files; LookML itself has no versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookmlFolder:
    """One project."""

    folder: Path
    connections: Mapping[str, Connection]
    url: str = ""
    clock: Clock = utc_now
    name: str = "lookml"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The folder, and its server: what is not in one folder of a server may be in another."""
        return f"{self.server} {self.folder.as_uri()}".lstrip()

    @property
    def server(self) -> str:
        """The namespace of the server; empty without an address."""
        return name_server("looker", self.url) if self.url else ""

    def check(self) -> Findings:
        """Whether there is a folder, and the packages that read it."""
        if not self.folder.is_dir():
            return Findings(problems=(f"there is no folder {self.folder}",))
        return capture.check()

    def read(self) -> Found:
        """What the files say now. Raises ArtifactError without files of LookML."""
        project = read_project(*read_texts(self.folder))
        namespace = self.server or f"lookml://{project.name or self.folder.name}"
        return find_reports(project, self.connections, Place(namespace=namespace, url=self.url.rstrip("/")))

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """What changed since the cursor. Files keep nothing of the past: there is nothing in a window that ends."""
        if window.until is None:
            yield from find_changes(self.name, self.read(), cursor, self.clock)

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, naming)


@dataclass(frozen=True, slots=True)
class LookmlCapture:
    """What the entry point `lookml` names."""

    name: str = "lookml"
    kind: str = READ
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "folder": "the project: the folder of its .lkml and .dashboard.lookml files",
            "connections": "a file of YAML with the URL of each connection, like warehouse: postgresql://db:5432/shop",
            "url": "the address of Looker, for the names and links of dashboards",
            "columns": "a file with the columns of tables, as of whence capture sql-log --columns",
        }
    )

    def check(self) -> Findings:
        """Whether the packages that read LookML are installed."""
        found = [check_package("lkml", VERSIONS), check_package("python-liquid", Versions("2.0.0", "2.3.6"))]
        problems = tuple(problem for one in found for problem in one.problems)
        hint = ("pip install 'whence-lineage[bi]'",) if problems else ()
        return Findings(found[0].version, (*problems, *hint), tuple(doubt for one in found for doubt in one.doubts))

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any project."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> LookmlFolder:
        """The capture of one project. Raises ValueError for an option that is missing or wrong."""
        if not options.get("folder"):
            raise ValueError(f"no project is given: set folder=DIRECTORY, {self.options['folder']}")
        if not options.get("connections"):
            raise ValueError(f"no connections are given: set connections=FILE, {self.options['connections']}")
        if options.get("url"):
            require_url(options["url"], "leave it out", "https://looker.example.com")
        connections = read_connections(Path(options["connections"]), options.get("columns", ""))
        folder = Path(os.path.abspath(options["folder"]))
        return LookmlFolder(folder=folder, connections=connections, url=strip_credentials(options.get("url", "")))


capture = LookmlCapture()
