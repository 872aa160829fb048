"""A project of BigQuery as a capture."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from whence.capture.polling.http_source import HttpSource, require_url
from whence.capture.sql import Catalog
from whence.capture.sql_log.query import Query
from whence.capture.sql_log.rows import Row
from whence.capture.warehouses.bigquery.jobs import creation_time, read_job
from whence.capture.warehouses.bigquery.rest_api import RestApi
from whence.capture.warehouses.bigquery.sign_in import KEY_FILE, TOKEN, authorize
from whence.capture.warehouses.records import Dialect, View
from whence.capture.warehouses.source import WarehouseCapture, WarehouseServer
from whence.capture.warehouses.statements import MARK, moment_at, read_allowed, read_columns, read_view

URL, DEFAULT_URL = "WHENCE_BIGQUERY_URL", "https://bigquery.googleapis.com"
DIALECT = Dialect(name="bigquery", quote="`")
_KEPT = timedelta(days=180)
"""How long BigQuery keeps the history of jobs."""
_SLICE = timedelta(days=1)
"""Jobs are listed by their creation, the latest first: so much of them is put in the order of their ends at once."""
_LONGEST = timedelta(hours=6)
"""How long a query may run: so much earlier than its end it may have been created."""
_NO_SCHEMAS = "SELECT * may be incomplete, as INFORMATION_SCHEMA of a dataset cannot be read"
_VIEWS = """
SELECT v.table_catalog, v.table_schema, v.table_name, v.view_definition AS definition,
  CAST(UNIX_MICROS(t.creation_time) AS STRING) AS changed
FROM `{dataset}`.INFORMATION_SCHEMA.VIEWS AS v
JOIN `{dataset}`.INFORMATION_SCHEMA.TABLES AS t ON t.table_name = v.table_name
"""
_COLUMNS = """
SELECT table_catalog, table_schema, table_name,
  TO_JSON_STRING(ARRAY_AGG(column_name ORDER BY ordinal_position)) AS columns
FROM `{dataset}`.INFORMATION_SCHEMA.COLUMNS
GROUP BY table_catalog, table_schema, table_name
"""


@dataclass(slots=True, kw_only=True)
class Project:
    """What a project is asked. `datasets`: those whose columns and views are read; all if empty."""

    api: RestApi
    datasets: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    histories: tuple[str, ...] = ("jobs",)

    def queries(self, history: str, since: datetime, until: datetime | None) -> Iterator[Query]:
        """The jobs of all users that ended in a time, and were created in it or up to six hours before."""
        now = datetime.now(UTC)
        end = min(until, now) if until else now
        first = max(since - _LONGEST, now - _KEPT)
        while first < end:
            last = min(first + _SLICE, end)
            listed = (job for job in self.api.jobs(first, last) if first <= creation_time(job) < last)
            found = [query for job in listed if (query := read_job(job))]
            yield from (one for one in sorted(found, key=_order) if _is_within(one, since, until))
            first = last

    def views(self, since: datetime, until: datetime | None) -> Iterator[View]:
        """The views that were made in a time."""
        views = [read_view(row) for row in self._schemas(_VIEWS)]
        for view in sorted(views, key=lambda one: (one.changed, one.parts)):
            at = moment_at(view.changed)
            if at >= since and (until is None or at < until):
                yield view

    def columns(self) -> Catalog:
        """The columns of all tables and views."""
        return read_columns(list(self._schemas(_COLUMNS)), DIALECT.name)

    def close(self) -> None:
        """Close the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.api.source.close()

    def _schemas(self, statement: str) -> Iterator[Row]:
        for dataset in self.datasets or self.api.datasets():
            text = f"{statement.format(dataset=f'{self.api.project}`.`{dataset}').strip()} {MARK}"
            yield from read_allowed(self.api.run, text, self.refused, _NO_SCHEMAS)


def _order(query: Query) -> tuple[int, str]:
    return query.ended, query.query_id


def _is_within(query: Query, since: datetime, until: datetime | None) -> bool:
    at = moment_at(query.ended)
    return at >= since and (until is None or at < until)


def connect(options: Mapping[str, str]) -> WarehouseServer:
    """The capture of one project. Raises ValueError for an option that is missing or wrong."""
    if not (project := options.get("project", "")):
        raise ValueError(f"the option project=… is missing: {capture.options['project']}")
    url = require_url(options.get("url") or os.environ.get(URL, DEFAULT_URL), URL, DEFAULT_URL)
    datasets = tuple(one.strip() for one in options.get("datasets", "").split(",") if one.strip())
    api = RestApi(source=HttpSource(url=url, variables=(TOKEN, KEY_FILE), authorize=authorize), project=project)
    return WarehouseServer(
        warehouse=Project(api=api, datasets=datasets),
        namespace="bigquery",
        dialect=DIALECT,
        name="bigquery",
        project=project,
    )


capture = WarehouseCapture(
    name="bigquery",
    options={
        "project": "the project whose jobs are read",
        "datasets": "the datasets whose columns and views are read, separated by commas; all if not given",
        "url": f"the API, if it is not {DEFAULT_URL}; {URL} if not given",
    },
    make=connect,
)
