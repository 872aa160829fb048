"""Statements that ask a warehouse: pages of a history in the order of its ends, and what may not be read."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from whence.capture.polling.pages import pages_by_time
from whence.capture.schemas.quoting import catalog_from
from whence.capture.sql import Catalog
from whence.capture.sql_log.query import Parts
from whence.capture.sql_log.rows import Row, text, value_of
from whence.capture.warehouses.records import View
from whence.errors import SourceError

PAGE = 2_000
"""Rows that one statement asks for."""
MARK = "/* whence poll */"
"""At the end of every statement, so that a poll leaves out itself. Snowflake removes a comment at the beginning."""
_ENDED = "ended_at"
LAST = "9999-01-01T00:00:00.000000Z"

Run = Callable[[str], Iterator[Row]]
"""Runs a statement. Raises StatementError if the warehouse refuses it, SourceError if it does not answer."""


class StatementError(SourceError):
    """A warehouse that answers, but does not run a statement: a table is missing, or may not be read."""


def pages(run: Run, statement: str, since: datetime, until: datetime | None, key: str) -> Iterator[Row]:
    """The rows of a statement with `{since}`, `{until}`, `{page}` and `{offset}`, ordered by `end_time`.

    That is in microseconds. `key` is the column whose value no other row has.
    """

    def fetch(first: str, offset: int) -> tuple[list[Row], bool]:
        found = list(run(fill(statement, first, until, offset)))
        return [{**row, _ENDED: iso_text(moment_at(int(row["end_time"])))} for row in found], len(found) >= PAGE

    yield from pages_by_time(fetch, first=iso_text(since), time_of=_ENDED, key=(key,))


def fill(statement: str, since: str, until: datetime | None, offset: int = 0) -> str:
    """A statement with its times, and the mark of a poll."""
    end = iso_text(until) if until else LAST
    filled = statement.format(since=since, until=end, page=PAGE, offset=offset, mark=MARK[3:-3])
    return f"{filled.strip()} {MARK}"


def read_allowed(run: Run, statement: str, refused: dict[str, str], sentence: str) -> list[Row]:
    """The rows of a statement; none, and the sentence noted, if the user may not read them."""
    try:
        return list(run(statement))
    except StatementError as error:
        refused[sentence] = f"{sentence}: {error.reason}"
        return []


def read_columns(rows: list[Row], dialect: str) -> Catalog:
    """The columns of tables, from rows with the name of a table in three parts, and `columns` as a JSON array."""
    tables = ((table_parts(row), [str(one) for one in value_of(row, "columns") or ()]) for row in rows)
    return catalog_from(tables, dialect)


def read_view(row: Row) -> View:
    """The view in a row."""
    reads = value_of(row, "reads")
    return View(
        parts=table_parts(row),
        changed=int(text(row, "changed") or 0),
        definition=text(row, "definition"),
        owner=text(row, "owner"),
        description=text(row, "description"),
        reads=tuple(tuple(map(str, one)) for one in reads if all(one)) if isinstance(reads, list) else (),
    )


def table_parts(row: Mapping[str, object]) -> Parts:
    """The name of the table that a row is about, without parts that are empty."""
    return tuple(str(row[one]) for one in ("table_catalog", "table_schema", "table_name") if row.get(one))


def moment_at(micros: int) -> datetime:
    """The time so many microseconds after the beginning of 1970, UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def iso_text(at: datetime) -> str:
    """A time in UTC, as every warehouse reads it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
