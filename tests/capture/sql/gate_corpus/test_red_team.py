"""Edits that an earlier fingerprint called the same, by an author who had not seen it. DuckDB tells them apart."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.names import DatasetName

CORPUS = Path(__file__).parent / "red_team.txt"
_SECTION = re.compile(r"(.*?)\n(.*)-- before\n(.*)\n-- after\n(.*)", re.DOTALL)


class Edit(NamedTuple):
    """Two versions of a query, and the statements that make its tables."""

    name: str
    tables: str
    before: str
    after: str


def edits() -> Iterator[Edit]:
    for section in CORPUS.read_text("utf-8").split("\n== ")[1:]:
        found = _SECTION.fullmatch(section.strip())
        assert found is not None, section
        yield Edit(*found.groups())


def make_tables(edit: Edit) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(edit.tables)
    return connection


def declared_types(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    query = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
    for table, column, kind in connection.execute(query).fetchall():
        found.setdefault(table, {})[column] = kind
    return found


def is_silent(types: dict[str, dict[str, str]], edit: Edit) -> bool:
    before, after = (
        ProjectCode(
            dialect="duckdb",
            namespace="duckdb",
            codes=(Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("duckdb", "answer"), table="answer"),),
            columns={table: tuple(columns) for table, columns in types.items()},
            types=types,
        )
        for sql in (edit.before, edit.after)
    )
    return all(change.kind.is_harmless for change in compare_projects(before, after))


def result_of(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The names and types of the columns, and the rows."""
    cursor = connection.execute(sql)
    columns = [(str(name), str(kind)) for name, kind, *_ in cursor.description or ()]
    return columns, sorted(map(repr, cursor.fetchall()))


@pytest.mark.parametrize("edit", list(edits()), ids=lambda edit: edit.name)
def test_an_edit_that_execution_tells_apart_is_not_silent(edit: Edit) -> None:
    with make_tables(edit) as connection:
        assert result_of(connection, edit.before) != result_of(connection, edit.after)
        assert not is_silent(declared_types(connection), edit)
