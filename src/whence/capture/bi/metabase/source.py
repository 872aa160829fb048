"""A Metabase as a capture: the cards and dashboards that changed since the last poll."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.bi.changes import Clock, find_changes, utc_now
from whence.capture.bi.connections import Connection, read_connections
from whence.capture.bi.events import Record, record_events
from whence.capture.bi.metabase.reports import Answers, Server
from whence.capture.bi.metabase.rest_api import KEY, PASSWORD, USER, MetabaseApi, log_in
from whence.capture.bi.reports import Found
from whence.capture.polling.http_source import HttpSource, name_server, require_url
from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("", "")
"""Not run: the answers are those of the documented API."""
URL = "WHENCE_METABASE_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetabaseServer:
    """One server."""

    api: MetabaseApi
    connections: Mapping[str, Connection]
    instance: str
    clock: Clock = utc_now
    name: str = "metabase"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether the server lets the user see cards."""
        try:
            next(self.api.rows("card"), None)
        except SourceError as error:
            return Findings(problems=(str(error),))
        finally:
            self.api.close()
        return Findings()

    def read(self) -> Found:
        """What the server has now. Raises SourceError."""
        try:
            answers = self._ask()
        finally:
            self.api.close()
        address = self.api.source.address.rstrip("/")
        return Server(answers, self.instance, address, self.connections).reports(self.clock())

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Record, Json]]:
        """What changed since the cursor. Of the past there are no cards: a window that ends has nothing."""
        if window.until is None:
            yield from find_changes(self.name, self.read(), cursor, self.clock)

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, naming)

    def _ask(self) -> Answers:
        cards, databases = tuple(self.api.rows("card")), tuple(self.api.rows("database"))
        metadata = tuple(self.api.find(f"database/{one['id']}/metadata?include_hidden=true") for one in databases)
        dashboards = tuple(self.api.find(f"dashboard/{one['id']}") for one in self.api.rows("dashboard"))
        return Answers(
            cards=cards,
            dashboards=tuple(one for one in dashboards if one),
            databases=databases,
            metadata=metadata,
            refused=frozenset(self.api.refused),
        )


@dataclass(frozen=True, slots=True)
class MetabaseCapture:
    """What the entry point `metabase` names."""

    name: str = "metabase"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"the address of Metabase, such as https://metabase.example.com; {URL} if not given",
            "connections": "a file of YAML with the URL of a database by its name in Metabase",
            "columns": "a file with the columns of tables, as of whence capture sql-log --columns",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Metabase is asked over HTTP."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any server."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> MetabaseServer:
        """The capture of one server. Raises ValueError for an option that is missing or wrong."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "https://metabase.example.com")
        given = options.get("connections")
        connections = read_connections(Path(given), options.get("columns", "")) if given else {}
        api = MetabaseApi(HttpSource(url=url, variables=(KEY, USER, PASSWORD), authorize=log_in))
        return MetabaseServer(api=api, connections=connections, instance=name_server("metabase", url))


capture = MetabaseCapture()
