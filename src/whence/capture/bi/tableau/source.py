"""A folder of workbooks as a capture: the worksheets and dashboards that changed since it was last read."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.bi.changes import Clock, find_changes, utc_now
from whence.capture.bi.connections import Connection, read_connections
from whence.capture.bi.events import Record, record_events
from whence.capture.bi.reports import Found
from whence.capture.bi.tableau.files import read_documents
from whence.capture.bi.tableau.workbooks import Workbooks
from whence.capture.polling.http_source import name_server, require_url
from whence.openlineage.json.wire import Json
from whence_client.captures import READ, Findings, Naming, Versions, Window, check_package
from whence_client.redaction.credentials import strip_credentials

VERSIONS = Versions("0.7.1", "0.7.1")
"""Of defusedxml; formats of workbooks have versions of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbookFolder:
    """Workbooks and data sources below a folder, or one file."""

    folder: Path
    connections: Mapping[str, Connection]
    url: str = ""
    clock: Clock = utc_now
    name: str = "tableau"
    kind: str = READ
    versions: Versions = VERSIONS

    @property
    def instance(self) -> str:
        """The folder, and its server: what is not in one folder of a server may be in another."""
        return f"{self.server} {self.folder.as_uri()}".lstrip()

    @property
    def server(self) -> str:
        """The namespace of the server; empty without an address."""
        return name_server("tableau", self.url) if self.url else ""

    def check(self) -> Findings:
        """Whether the files are there, and the package that reads them."""
        if not self.folder.exists():
            return Findings(problems=(f"there is no folder {self.folder}",))
        return capture.check()

    def read(self) -> Found:
        """What the files say now. Raises ArtifactError without files of Tableau."""
        documents, flaws = read_documents(self.folder)
        reading = Workbooks(self.connections, self.server or f"tableau://{self.folder.stem}", self.server)
        return reading.read(documents, flaws, self.clock())

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """What changed since the cursor. Files keep nothing of the past: there is nothing in a window that ends."""
        if window.until is None:
            yield from find_changes(self.name, self.read(), cursor, self.clock)

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, naming)


@dataclass(frozen=True, slots=True)
class TableauCapture:
    """What the entry point `tableau` names."""

    name: str = "tableau"
    kind: str = READ
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "folder": "where the .twb, .twbx, .tds and .tdsx files are; one file, too",
            "connections": "a file of YAML with the URL of a connection by its server, server/database, or name",
            "url": "the address of Tableau, for the names of workbooks and published data sources",
            "columns": "a file with the columns of tables, as of whence capture sql-log --columns",
        }
    )

    def check(self) -> Findings:
        """Whether the package that reads XML safely is installed."""
        found = check_package("defusedxml", VERSIONS)
        return found if found.is_usable else Findings(problems=(*found.problems, "pip install 'whence-lineage[bi]'"))

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any workbook."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> WorkbookFolder:
        """The capture of one folder. Raises ValueError for an option that is missing or wrong."""
        if not options.get("folder"):
            raise ValueError(f"no workbooks are given: set folder=DIRECTORY, {self.options['folder']}")
        if options.get("url"):
            require_url(options["url"], "leave it out", "https://tableau.example.com")
        given = options.get("connections")
        connections = read_connections(Path(given), options.get("columns", "")) if given else {}
        folder = Path(os.path.abspath(options["folder"]))
        return WorkbookFolder(folder=folder, connections=connections, url=strip_credentials(options.get("url", "")))


capture = TableauCapture()
