"""A Superset as a capture: the charts and dashboards that changed since the last poll."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.capture.bi.changes import Clock, find_changes, utc_now
from whence.capture.bi.connections import Connection, read_connections
from whence.capture.bi.events import Record, record_events
from whence.capture.bi.reports import Found
from whence.capture.bi.superset.charts import read_form
from whence.capture.bi.superset.reports import Answers, Server, dataset_id
from whence.capture.bi.superset.rest_api import PASSWORD, TOKEN, USER, SupersetApi, log_in
from whence.capture.polling.http_source import HttpSource, name_server, require_url
from whence.errors import ArtifactError, SourceError
from whence.openlineage.json.wire import Json
from whence_client.captures import POLL, Findings, Naming, Versions, Window

VERSIONS = Versions("6.1", "6.1")
"""What was run. The documented API is the same since 3."""
URL = "WHENCE_SUPERSET_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersetServer:
    """One server."""

    api: SupersetApi
    connections: Mapping[str, Connection]
    instance: str
    clock: Clock = utc_now
    name: str = "superset"
    kind: str = POLL
    versions: Versions = VERSIONS

    def check(self) -> Findings:
        """Whether the server lets the user see charts."""
        try:
            next(self.api.rows("chart"), None)
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
        """What changed since the cursor. Superset keeps nothing of the past: a window that ends has nothing."""
        if window.until is None:
            yield from find_changes(self.name, self.read(), cursor, self.clock)

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """The events of a record."""
        return record_events(record, naming)

    def _ask(self) -> Answers:
        charts, dashboards = tuple(self.api.rows("chart")), tuple(self.api.rows("dashboard"))
        datasets = {key: self.api.find(f"dataset/{key}") for key in sorted(set(_dataset_ids(charts)))}
        databases = {int((one.get("database") or {}).get("id") or 0) for one in datasets.values() if one}
        found = {key: self.api.find(f"database/{key}/connection") or {} for key in sorted(databases) if key}
        lists = {int(one["id"]): self.api.find(f"dashboard/{one['id']}/charts") for one in dashboards}
        return Answers(
            charts=charts,
            dashboards=dashboards,
            datasets=datasets,
            addresses={key: str(one.get("sqlalchemy_uri") or "") for key, one in found.items()},
            shown={
                key: tuple(int(one["id"]) for one in (listed or {}).get("result", ())) for key, listed in lists.items()
            },
            refused=frozenset(f"dashboard/{key}" for key, listed in lists.items() if listed is None),
        )


def _dataset_ids(charts: tuple[Json, ...]) -> Iterator[int]:
    for chart in charts:
        try:
            key = dataset_id(chart, read_form(chart))
        except ArtifactError:
            key = dataset_id(chart, {})
        if key is not None:
            yield key


@dataclass(frozen=True, slots=True)
class SupersetCapture:
    """What the entry point `superset` names."""

    name: str = "superset"
    kind: str = POLL
    versions: Versions = VERSIONS
    options: Mapping[str, str] = field(
        default_factory=lambda: {
            "url": f"the address of Superset, such as https://superset.example.com; {URL} if not given",
            "connections": "a file of YAML with the URL of a database by its name in Superset",
            "columns": "a file with the columns of tables, as of whence capture sql-log --columns",
        }
    )

    def check(self) -> Findings:
        """No package is needed: Superset is asked over HTTP."""
        return Findings()

    def translate(self, record: Record, naming: Naming) -> Iterator[Json]:
        """As of any server."""
        return record_events(record, naming)

    def configure(self, options: Mapping[str, str]) -> SupersetServer:
        """The capture of one server. Raises ValueError for an option that is missing or wrong."""
        url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "https://superset.example.com")
        given = options.get("connections")
        connections = read_connections(Path(given), options.get("columns", "")) if given else {}
        api = SupersetApi(HttpSource(url=url, variables=(TOKEN, USER, PASSWORD), authorize=log_in))
        return SupersetServer(api=api, connections=connections, instance=name_server("superset", url))


capture = SupersetCapture()
