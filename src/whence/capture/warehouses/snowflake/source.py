"""A Snowflake account as a capture."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlsplit

from whence.capture.polling.http_source import HttpSource, require_url
from whence.capture.sql import Catalog
from whence.capture.sql_log.exports import snowflake_access, snowflake_query
from whence.capture.sql_log.query import Query
from whence.capture.sql_log.rows import Row
from whence.capture.warehouses.records import Dialect, View
from whence.capture.warehouses.snowflake import statements
from whence.capture.warehouses.snowflake.sql_api import TOKEN, SqlApi, authorize
from whence.capture.warehouses.source import WarehouseCapture, WarehouseServer, read_minutes
from whence.capture.warehouses.statements import fill, iso_text, pages, read_allowed, read_columns, read_view

URL = "WHENCE_SNOWFLAKE_URL"
DIALECT = Dialect(name="snowflake")
_SETTLE = 180
_NO_ACCESS = "the columns are those of the SQL text, as ACCESS_HISTORY cannot be read"
_NO_DEPENDENCIES = "what views read is only in their text, as OBJECT_DEPENDENCIES cannot be read"
_NO_VIEWS = "views are only known where they are created, as VIEWS cannot be read"
_NO_COLUMNS = "SELECT * may be incomplete, as COLUMNS cannot be read"


@dataclass(slots=True, kw_only=True)
class Account:
    """What an account is asked. `settle`: queries that ended within so many minutes are not read yet."""

    api: SqlApi
    settle: int = _SETTLE
    has_access: bool = True
    refused: dict[str, str] = field(default_factory=dict)
    histories: tuple[str, ...] = ("QUERY_HISTORY",)

    def queries(self, history: str, since: datetime, until: datetime | None) -> Iterator[Query]:
        """The queries that ended in a time, with the columns that ACCESS_HISTORY says they read and wrote."""
        if self.has_access and self._can_read("access_history", _NO_ACCESS):
            statement = statements.QUERIES.format(access=statements.ACCESS, join=statements.JOIN, settle=self.settle)
        else:
            statement = statements.QUERIES.format(access="", join="", settle=self.settle)
        for row in pages(self.api.run, statement, since, until, "query_id"):
            if query := _query(row):
                yield query

    def views(self, since: datetime, until: datetime | None) -> Iterator[View]:
        """The views that were changed in a time."""
        if self._can_read("object_dependencies", _NO_DEPENDENCIES):
            statement = statements.VIEWS.format(reads=statements.READS, join=statements.DEPENDENCIES)
        else:
            statement = statements.VIEWS.format(reads="", join="")
        text = fill(statement, iso_text(since), until)
        yield from map(read_view, read_allowed(self.api.run, text, self.refused, _NO_VIEWS))

    def columns(self) -> Catalog:
        """The columns of all tables and views."""
        text = fill(statements.COLUMNS, "", None)
        return read_columns(read_allowed(self.api.run, text, self.refused, _NO_COLUMNS), DIALECT.name)

    def close(self) -> None:
        """Close the connections, and forget what was refused: at the next poll it may be allowed."""
        self.refused.clear()
        self.api.source.close()

    def _can_read(self, view: str, sentence: str) -> bool:
        text = fill(f"SELECT 1 AS one FROM snowflake.account_usage.{view} LIMIT 0", "", None)
        read_allowed(self.api.run, text, self.refused, sentence)
        return sentence not in self.refused


def _query(row: Row) -> Query | None:
    query = snowflake_query(row, "QUERY_HISTORY")
    return replace(query, reported=snowflake_access(row, "").reported) if query else None


def connect(options: Mapping[str, str]) -> WarehouseServer:
    """The capture of one account. Raises ValueError for an option that is missing or wrong."""
    url = require_url(options.get("url") or os.environ.get(URL, ""), URL, "https://ORG-ACCOUNT.snowflakecomputing.com")
    settle = read_minutes(options, "settle", _SETTLE)
    api = SqlApi(
        source=HttpSource(url=url, variables=(TOKEN,), authorize=authorize),
        warehouse=options.get("warehouse", ""),
        role=options.get("role", ""),
    )
    account = (urlsplit(url).hostname or "").removesuffix(".snowflakecomputing.com")
    return WarehouseServer(
        warehouse=Account(api=api, settle=settle, has_access=options.get("access", "yes") != "no"),
        namespace=options.get("namespace") or f"snowflake://{account}",
        dialect=DIALECT,
        name="snowflake",
    )


capture = WarehouseCapture(
    name="snowflake",
    options={
        "url": f"the account, such as https://ORG-ACCOUNT.snowflakecomputing.com; {URL} if not given",
        "warehouse": "the virtual warehouse that runs the statements of the poll; that of the user if not given",
        "role": "the role that may read SNOWFLAKE.ACCOUNT_USAGE; that of the user if not given",
        "namespace": "the namespace of tables, snowflake://ORG-ACCOUNT if not given",
        "settle": f"how many minutes a query must have ended; {_SETTLE} if not given: so late may ACCESS_HISTORY be",
        "access": "no: the account has no ACCESS_HISTORY, as before the Enterprise edition",
    },
    make=connect,
)
