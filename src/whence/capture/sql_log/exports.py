"""Query histories that engines export: Snowflake, Databricks, pg_stat_statements; one row per query.

Column names are those of each vendor's reference. Unfinished queries are left out.
"""

import re
from collections.abc import Iterator
from typing import Any

from whence.capture.sql_log.query import Flow, Parts, Query, Reported
from whence.capture.sql_log.rows import Row, number, text, value_of
from whence.capture.sql_log.states import execution_of, state_of
from whence.capture.sql_log.times import moment
from whence.model.events import RunState
from whence.openlineage.json.wire import objects_in, text_of

_UNFINISHED = ("RUNNING", "QUEUED", "BLOCKED", "RESUMING_WAREHOUSE", "PENDING", "COMPILING", "COMPILED", "STARTED")
"""States of unfinished queries: a later export contains them again."""
_CANCELED = "604"
"""Snowflake's error code of a query that somebody canceled: its status is FAIL."""
_HIDDEN = "<insufficient privilege>"
"""The placeholder of pg_stat_statements for a text that may not be shown."""
_NAME = re.compile(r'"(?:[^"]|"")*"|[^."]+')


def snowflake_query(row: Row, place: str) -> Query | None:
    """A row of ACCOUNT_USAGE.QUERY_HISTORY, or of its function in INFORMATION_SCHEMA."""
    if _is_unfinished(row, "execution_status"):
        return None
    error = text(row, "error_message")
    return Query(
        text=text(row, "query_text"),
        place=place,
        started=moment(text(row, "start_time")),
        ended=moment(text(row, "end_time")) or moment(text(row, "start_time")),
        state=RunState.ABORT if _is_canceled(row) else state_of(text(row, "execution_status"), error),
        error=error,
        user=text(row, "user_name"),
        database=text(row, "database_name"),
        schema=text(row, "schema_name"),
        session=text(row, "session_id"),
        query_id=text(row, "query_id"),
        execution=execution_of(text(row, "query_id")),
        rows=_written(row) or number(row, "rows_produced"),
    )


def _is_canceled(row: Row) -> bool:
    return text(row, "error_code").lstrip("0") == _CANCELED


def _written(row: Row) -> int:
    return sum(number(row, f"rows_{how}") or 0 for how in ("inserted", "updated", "deleted"))


def snowflake_access(row: Row, place: str) -> Query:
    """Read a row of ACCOUNT_USAGE.ACCESS_HISTORY: column flows that Snowflake itself reports, without a text."""
    modified = [entry for _, entry in objects_in(value_of(row, "objects_modified"))]
    accessed = [entry for _, entry in objects_in(value_of(row, "direct_objects_accessed"))]
    outputs = [_dotted(text_of(entry.get("objectName"))) for entry in modified if _is_table(entry)]
    return Query(
        text=text(row, "query_text"),
        place=place,
        ended=moment(text(row, "query_start_time")),
        user=text(row, "user_name"),
        query_id=text(row, "query_id"),
        execution=execution_of(text(row, "query_id")),
        reported=Reported(
            inputs=tuple(_dotted(text_of(entry.get("objectName"))) for entry in accessed if _is_table(entry)),
            outputs=tuple(outputs),
            flows=tuple(flow for entry in modified if _is_table(entry) for flow in _snowflake_flows(entry)),
            is_direct=True,
        ),
    )


def _snowflake_flows(modified: dict[str, Any]) -> Iterator[Flow]:
    target = _dotted(text_of(modified.get("objectName")))
    for _, column in objects_in(modified.get("columns")):
        for _, source in objects_in(column.get("directSources")):
            if _is_table(source):
                name, origin = text_of(column.get("columnName")), text_of(source.get("columnName"))
                yield Flow(_dotted(text_of(source.get("objectName"))), origin, target, name)


def _is_table(entry: dict[str, Any]) -> bool:
    domain = text_of(entry.get("objectDomain")).lower()
    return bool(text_of(entry.get("objectName"))) and any(kind in domain for kind in ("table", "view", "stream"))


def databricks_query(row: Row, place: str) -> Query | None:
    """A row of system.query.history, or of the answer of the REST API (`/api/2.0/sql/history/queries`)."""
    if _is_unfinished(row, "execution_status", "status"):
        return None
    error = text(row, "error_message")
    return Query(
        text=text(row, "statement_text", "query_text"),
        place=place,
        started=moment(text(row, "start_time", "query_start_time_ms")),
        ended=moment(text(row, "end_time", "query_end_time_ms", "start_time", "query_start_time_ms")),
        state=state_of(text(row, "execution_status", "status"), error),
        error=error,
        user=text(row, "executed_by", "user_name"),
        session=text(row, "session_id"),
        query_id=text(row, "statement_id", "query_id"),
        execution=execution_of(text(row, "statement_id", "query_id")),
        application=text(row, "client_application"),
        rows=number(row, "produced_rows", "rows_produced"),
    )


def counted_statement(row: Row, place: str) -> Query | None:
    """Read a row of pg_stat_statements, which counts executions. Its only time is that of the counter
    (PostgreSQL 17).
    """
    query = text(row, "query")
    if query == _HIDDEN:
        raise ValueError("the exporting user cannot see the queries of other users: grant it pg_read_all_stats")
    return Query(
        text=query,
        place=place,
        ended=moment(text(row, "stats_since")),
        user=text(row, "usename", "rolname", "userid"),
        database=text(row, "datname", "dbid"),
        query_id=text(row, "queryid"),
        rows=number(row, "rows"),
        calls=number(row, "calls"),
    )


def plain_query(row: Row, place: str) -> Query | None:
    """Read a row of a self-made table of queries; only the text is required."""
    error = text(row, "error", "error_message")
    started = moment(row.get("start_time"))
    return Query(
        text=text(row, "query_text", "query", "sql", "text"),
        place=place,
        started=started,
        ended=moment(row.get("end_time")) or started,
        state=state_of(text(row, "status"), error),
        error=error,
        user=text(row, "user", "user_name"),
        database=text(row, "database", "catalog"),
        schema=text(row, "schema"),
        session=text(row, "session", "session_id"),
        query_id=text(row, "query_id"),
        application=text(row, "application"),
        rows=number(row, "rows"),
        dialect=text(row, "dialect"),
    )


def _is_unfinished(row: Row, *keys: str) -> bool:
    return text(row, *keys).upper() in _UNFINISHED


def _dotted(name: str) -> Parts:
    """The parts of a dotted name; Snowflake quotes those that need it."""
    return tuple(part.strip('"').replace('""', '"') for part in _NAME.findall(name))
