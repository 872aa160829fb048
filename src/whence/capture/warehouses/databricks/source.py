"""A Databricks workspace as a capture."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from whence.capture.polling.http_source import HttpSource, require_url
from whence.capture.sql import Catalog
from whence.capture.sql_log.exports import databricks_query
from whence.capture.sql_log.query import Query
from whence.capture.warehouses.databricks import statements
from whence.capture.warehouses.databricks.lineage import read_flows, read_other
from whence.capture.warehouses.databricks.sql_api import TOKEN, SqlApi, authorize
from whence.capture.warehouses.records import Dialect, View
from whence.capture.warehouses.source import WarehouseCapture, WarehouseServer, read_minutes
from whence.capture.warehouses.statements import fill, iso_text, pages, read_allowed, read_columns, read_view

URL = "WHENCE_DATABRICKS_URL"
DIALECT = Dialect(name="databricks", quote="`")
_HISTORY = "system.query.history"
_SETTLE = 60
_OVERLAP = 360
_NO_LINEAGE = "the columns are those of the SQL text, as system.access.column_lineage cannot be read"
_NO_HISTORY = "texts, times and failures of statements are missing, as system.query.history cannot be read"
_NO_VIEWS = "views are only known where they are created, as system.information_schema.views cannot be read"
_NO_COLUMNS = "SELECT * may be incomplete, as system.information_schema.columns cannot be read"


@dataclass(slots=True, kw_only=True)
class Workspace:
    """What a workspace is asked. `settle`: queries that ended within so many minutes are not read yet."""

    api: SqlApi
    settle: int = _SETTLE
    refused: dict[str, str] = field(default_factory=dict)
    histories: tuple[str, ...] = (_HISTORY, "system.access.table_lineage")

    def queries(self, history: str, since: datetime, until: datetime | None) -> Iterator[Query]:
        """The statements that ended in a time with their lineage, or what has lineage and no statement."""
        has_lineage = self._can_read("access.column_lineage", _NO_LINEAGE)
        if history == _HISTORY:
            yield from self._statements(since, until, has_lineage=has_lineage)
        elif has_lineage:
            yield from self._others(since, until)

    def views(self, since: datetime, until: datetime | None) -> Iterator[View]:
        """The views that were changed in a time."""
        text = fill(statements.VIEWS, iso_text(since), until)
        yield from map(read_view, read_allowed(self.api.run, text, self.refused, _NO_VIEWS))

    def columns(self) -> Catalog:
        """The columns of all tables and views."""
        text = fill(statements.COLUMNS, "", None)
        return read_columns(read_allowed(self.api.run, text, self.refused, _NO_COLUMNS), DIALECT.name)

    def close(self) -> None:
        """Close the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.api.source.close()

    def _statements(self, since: datetime, until: datetime | None, *, has_lineage: bool) -> Iterator[Query]:
        if not self._can_read("query.history", _NO_HISTORY):
            return
        flows, join = (statements.FLOWS, statements.JOIN) if has_lineage else ("", "")
        statement = statements.QUERIES.format(flows=flows, join=join, settle=self.settle)
        for row in pages(self.api.run, statement, since, until, "statement_id"):
            if query := databricks_query(row, _HISTORY):
                yield replace(query, reported=read_flows(row))

    def _others(self, since: datetime, until: datetime | None) -> Iterator[Query]:
        statement = statements.OTHERS.format(settle=self.settle)
        yield from map(read_other, pages(self.api.run, statement, since, until, "key"))

    def _can_read(self, table: str, sentence: str) -> bool:
        text = fill(f"SELECT 1 AS one FROM system.{table} LIMIT 0", "", None)
        read_allowed(self.api.run, text, self.refused, sentence)
        return sentence not in self.refused


def connect(options: Mapping[str, str]) -> WarehouseServer:
    """The capture of one workspace. Raises ValueError for an option that is missing or wrong."""
    url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "https://dbc-1234.cloud.databricks.com")
    if not (warehouse := options.get("warehouse", "")):
        raise ValueError(f"the option warehouse=… is missing: {capture.options['warehouse']}")
    api = SqlApi(source=HttpSource(url=url, variables=(TOKEN,), authorize=authorize), warehouse=warehouse)
    return WarehouseServer(
        warehouse=Workspace(api=api, settle=read_minutes(options, "settle", _SETTLE)),
        namespace=options.get("namespace") or f"databricks://{urlsplit(url).hostname}",
        dialect=DIALECT,
        overlap=timedelta(minutes=_OVERLAP),
        name="databricks",
    )


capture = WarehouseCapture(
    name="databricks",
    options={
        "url": f"the workspace, such as https://dbc-1234.cloud.databricks.com; {URL} if not given",
        "warehouse": "the id of the SQL warehouse that runs the statements of the poll",
        "namespace": "the namespace of tables, databricks://HOST if not given",
        "settle": f"how many minutes a query must have ended; {_SETTLE} if not given",
    },
    make=connect,
)
