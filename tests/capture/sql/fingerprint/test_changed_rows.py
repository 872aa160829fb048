"""UPDATE, DELETE and MERGE in several spellings: DuckDB makes the same table with them, and another one with their near
misses, whose changed columns are the ones that differ.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from capture.sql.fingerprint.test_normal_forms import databases
from whence.capture.sql.fingerprint.projects.code import code_of_files
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.changes import ColumnChange

UPDATE = "UPDATE t SET b = s.n, c = 'z' FROM (SELECT a, count(*) AS n FROM u GROUP BY a) s WHERE t.a = s.a AND t.b > 0"
MERGE = (
    "MERGE INTO t USING (SELECT a, max(b) AS b, max(c) AS c FROM u WHERE a IS NOT NULL GROUP BY a) s ON t.a = s.a "
    "WHEN MATCHED AND t.b IS DISTINCT FROM s.b THEN UPDATE SET b = s.b, c = s.c "
    "WHEN NOT MATCHED THEN INSERT (a, b, c) VALUES (s.a, s.b, s.c)"
)
ORDERED = (
    "MERGE INTO t USING (SELECT a, max(b) AS b FROM u GROUP BY a) s ON t.a = s.a "
    "WHEN MATCHED AND s.b > 1 THEN UPDATE SET b = 9 WHEN MATCHED AND s.b > 0 THEN DELETE"
)
SAME = [
    (UPDATE, "UPDATE t AS x SET c = 'z', b = y.n FROM (SELECT u.a, count(*) AS n FROM u GROUP BY u.a) AS y "
             "WHERE 0 < x.b AND y.a = x.a"),
    (UPDATE, "WITH y AS (SELECT a, count(*) AS n FROM u GROUP BY 1) UPDATE t SET b = y.n, c = 'z' FROM y "
             "WHERE t.a = y.a AND NOT t.b <= 0"),
    ("UPDATE t SET b = 0 WHERE a IN (SELECT a FROM u)",
     "UPDATE t SET b = 0 WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)"),
    ("UPDATE t SET b = 0 WHERE b IS NULL OR b <> 0", "UPDATE t SET b = 0 WHERE b IS DISTINCT FROM 0"),
    ("DELETE FROM t WHERE a > 1 AND NOT b = 2", "DELETE FROM t WHERE b <> 2 AND 1 < a"),
    (MERGE, "MERGE INTO t AS x USING (SELECT a, max(b) AS b, max(c) AS c FROM u GROUP BY a HAVING a IS NOT NULL) AS y "
            "ON y.a = x.a WHEN NOT MATCHED THEN INSERT (b, a, c) VALUES (y.b, y.a, y.c) "
            "WHEN MATCHED AND NOT (x.b IS NOT DISTINCT FROM y.b) THEN UPDATE SET c = y.c, b = y.b"),
    (ORDERED, ORDERED.replace("s.b > 1", "1 < s.b").replace("t.a = s.a", "s.a = t.a")),
]  # fmt: skip
OTHER = [
    (UPDATE, UPDATE.replace("'z'", "'y'"), {"c"}),
    (UPDATE, UPDATE.replace("t.b > 0", "t.b >= 0"), {"b", "c"}),
    (UPDATE, UPDATE.replace("count(*)", "count(b)"), {"b"}),
    ("UPDATE t SET b = 0 WHERE b IS NULL OR b <> 0", "UPDATE t SET b = 0 WHERE b <> 0", {"b"}),
    ("DELETE FROM t WHERE a > 1 AND NOT b = 2", "DELETE FROM t WHERE a > 1 AND b IS DISTINCT FROM 2", {None}),
    (MERGE, MERGE.replace("VALUES (s.a, s.b, s.c)", "VALUES (s.a, s.b, 'new')"), {"c"}),
    (MERGE, MERGE.replace("t.b IS DISTINCT FROM s.b", "t.b <> s.b"), {"b", "c"}),
    (MERGE, MERGE.replace("c = s.c ", "c = t.c "), {"c"}),
    (ORDERED, "MERGE INTO t USING (SELECT a, max(b) AS b FROM u GROUP BY a) s ON t.a = s.a "
              "WHEN MATCHED AND s.b > 0 THEN DELETE WHEN MATCHED AND s.b > 1 THEN UPDATE SET b = 9", {None}),
]  # fmt: skip


def tables(statement: str) -> Iterator[Counter[str]]:
    """The target after the statement, in each database."""
    for connection in databases():
        connection.execute("BEGIN")
        try:
            connection.execute(statement)
            yield Counter(map(repr, connection.execute("SELECT * FROM t").fetchall()))
        finally:
            connection.execute("ROLLBACK")


def changes(before: str, after: str, dialect: str = "duckdb") -> list[ColumnChange]:
    columns = dict.fromkeys(("t", "u"), ("a", "b", "c", "f"))
    one, other = (code_of_files({"job.sql": sql}, dialect, "duckdb", columns) for sql in (before, after))
    return [one for one in compare_projects(one, other) if not one.kind.is_harmless]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_change_are_silent(one: str, other: str) -> None:
    assert list(tables(one)) == list(tables(other))
    assert changes(one, other) == changes(other, one) == []


@pytest.mark.parametrize(("one", "other", "columns"), OTHER)
def test_another_change_names_its_columns(one: str, other: str, columns: set[str | None]) -> None:
    assert list(tables(one)) != list(tables(other))
    assert {change.column for change in changes(one, other)} == columns


def test_mysql_assigns_from_left_to_right() -> None:
    one, other = "UPDATE t SET a = b, b = a", "UPDATE t SET b = a, a = b"
    assert changes(one, other) == []
    assert changes(one, other, "mysql") != []


def test_a_star_is_compared_as_text() -> None:
    star = "MERGE INTO t USING u s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    assert changes(star, star.replace("t.a = s.a", "s.a = t.a"), "spark") == []
    assert changes(star, star.replace("t.a = s.a", "t.b = s.b"), "spark") != []


def test_what_is_written_is_named_with_its_rows() -> None:
    merge = (
        "MERGE INTO t USING u s ON t.a = s.a WHEN MATCHED THEN UPDATE SET c = upper(s.c) "
        "WHEN NOT MATCHED THEN INSERT (a, c) VALUES (s.a, s.c)"
    )
    (found,) = changes(merge, merge.replace("upper", "lower"))
    assert (found.before, found.after) == (
        "inserted: c; updated where a = a: upper(c)",
        "inserted: c; updated where a = a: lower(c)",
    )
    (found,) = changes("UPDATE t SET b = 1 WHERE a > 1", "UPDATE t SET b = 1 WHERE a > 2")
    assert (found.before, found.after) == ("updated where 1 < a: 1", "updated where 2 < a: 1")
