"""The supported log formats, by their names on the command line."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from whence.capture.sql_log.bigquery import bigquery_audit, bigquery_job
from whence.capture.sql_log.exports import (
    counted_statement,
    databricks_query,
    plain_query,
    snowflake_access,
    snowflake_query,
)
from whence.capture.sql_log.postgres import DEFAULT_PREFIX, csv_log, json_log, stderr_log
from whence.capture.sql_log.query import Flaw, Query
from whence.capture.sql_log.rows import Row, rows
from whence.capture.sql_log.trino import trino_event

LogReader = Callable[[TextIO, str], Iterator[Query | Flaw]]
"""Reads queries and flaws from a stream and its name, one at a time."""
RowReader = Callable[[Row, str], Query | None]
"""Reads the query of a row, with keys in lower case, and its position; None if the row has none."""


@dataclass(frozen=True, slots=True)
class Format:
    """The reader of a log, and the dialect of its SQL."""

    read: LogReader
    dialect: str
    row: RowReader | None = None
    """For a log in table form, the reader of one row."""


def query_in(read: RowReader, row: Row, place: str) -> Query | Flaw | None:
    """Read the query of a row: None if it has none, a flaw if the row is invalid."""
    try:
        return read(row, place)
    except (ArithmeticError, TypeError, ValueError) as error:  # an engine's export may hold anything
        return Flaw(place, f"not a row of this format: {error}")


def _table(read: RowReader, stream: TextIO, name: str) -> Iterator[Query | Flaw]:
    for row in rows(stream, name):
        if isinstance(row, Flaw):
            yield row
        elif query := query_in(read, row[1], row[0]):
            yield query


def _table_format(read: RowReader, dialect: str) -> Format:
    return Format(partial(_table, read), dialect, read)


FORMATS: Mapping[str, Format] = {
    "postgres": Format(stderr_log, "postgres"),
    "postgres-csv": Format(csv_log, "postgres"),
    "postgres-json": Format(json_log, "postgres"),
    "pg-stat-statements": _table_format(counted_statement, "postgres"),
    "snowflake": _table_format(snowflake_query, "snowflake"),
    "snowflake-access": _table_format(snowflake_access, "snowflake"),
    "bigquery": _table_format(bigquery_job, "bigquery"),
    "bigquery-audit": _table_format(bigquery_audit, "bigquery"),
    "databricks": _table_format(databricks_query, "databricks"),
    "trino": _table_format(trino_event, "trino"),
    "queries": _table_format(plain_query, "generic"),
}


def format_of(name: str, prefix: str = DEFAULT_PREFIX) -> Format:
    """The format with a name. `prefix` is log_line_prefix, for `postgres`. Raises KeyError."""
    return Format(partial(stderr_log, prefix=prefix), "postgres") if name == "postgres" else FORMATS[name]
