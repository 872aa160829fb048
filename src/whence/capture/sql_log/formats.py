"""The forms of logs that are read, by the name that one gives them at the terminal."""

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
    trino_event,
)
from whence.capture.sql_log.postgres import DEFAULT_PREFIX, csv_log, json_log, stderr_log
from whence.capture.sql_log.query import Flaw, Query
from whence.capture.sql_log.rows import Row, rows

Reading = Callable[[TextIO, str], Iterator[Query | Flaw]]
"""From a stream and its name to queries and flaws, one at a time."""
RowReader = Callable[[Row, str], Query | None]
"""From a row, with keys in lower case, and its place to the query it tells of, if it tells of one."""


@dataclass(frozen=True, slots=True)
class Format:
    """How a log is read, and the dialect of its SQL."""

    read: Reading
    dialect: str
    row: RowReader | None = None
    """Of a log that is a table: how a row is read."""


def query_in(read: RowReader, row: Row, place: str) -> Query | Flaw | None:
    """The query of a row; nothing where it tells of none; what is wrong with it."""
    try:
        return read(row, place)
    except (ArithmeticError, TypeError, ValueError) as error:  # an engine's export may hold anything
        return Flaw(place, f"not a row of this format: {error}")


def _table(read: RowReader, stream: TextIO, name: str) -> Iterator[Query | Flaw]:
    for one in rows(stream, name):
        if isinstance(one, Flaw):
            yield one
        elif query := query_in(read, one[1], one[0]):
            yield query


def _of_rows(read: RowReader, dialect: str) -> Format:
    return Format(partial(_table, read), dialect, read)


FORMATS: Mapping[str, Format] = {
    "postgres": Format(stderr_log, "postgres"),
    "postgres-csv": Format(csv_log, "postgres"),
    "postgres-json": Format(json_log, "postgres"),
    "pg-stat-statements": _of_rows(counted_statement, "postgres"),
    "snowflake": _of_rows(snowflake_query, "snowflake"),
    "snowflake-access": _of_rows(snowflake_access, "snowflake"),
    "bigquery": _of_rows(bigquery_job, "bigquery"),
    "bigquery-audit": _of_rows(bigquery_audit, "bigquery"),
    "databricks": _of_rows(databricks_query, "databricks"),
    "trino": _of_rows(trino_event, "trino"),
    "queries": _of_rows(plain_query, "generic"),
}


def format_of(name: str, prefix: str = DEFAULT_PREFIX) -> Format:
    """The format of a name; `prefix` is log_line_prefix, for `postgres`. Raises KeyError."""
    return Format(partial(stderr_log, prefix=prefix), "postgres") if name == "postgres" else FORMATS[name]
