"""Small changes of queries, and what shows whether they have another value in their place."""

from itertools import islice

import duckdb
import pytest
import sqlglot

from whence.capture.sql.trials.mutations import others
from whence.capture.sql.trials.probes import probe_of

MUTATIONS = {
    "SELECT a FROM t WHERE a > 5": {"a >= 5", "COALESCE(a > 5, TRUE)", "6", "WHERE TRUE"},
    "SELECT date_trunc('hour', a) FROM t": {"MINUTE", "DAY"},
    "SELECT a FROM t WHERE a = 'x'": {"LOWER(a) = LOWER('x')", "TRIM(a) = 'x'", "'x~'"},
    "SELECT a FROM t JOIN u USING (a)": {"LEFT JOIN u USING (a)"},
    "SELECT rank() OVER (PARTITION BY a ORDER BY b) FROM t": {"ROW_NUMBER()", "DENSE_RANK()", "b DESC"},
    "SELECT a FROM t WHERE a BETWEEN 1 AND 3": {"(a > 1 AND a <= 3)", "(a >= 1 AND a < 3)"},
    "SELECT coalesce(a, 0) + INTERVAL 30 MINUTE FROM t": {"a", "'31'", "SECOND", "HOUR"},
    "SELECT coalesce(a, b, 0) FROM t": {"COALESCE(a, b)", "a"},
    "SELECT a AT TIME ZONE 'Europe/Zurich' FROM t": {"a AT TIME ZONE 'UTC'", "a AT TIME ZONE 'Etc/GMT-2'"},
    "SELECT lag(a) OVER (ORDER BY b) FROM t": {"LAG(a IGNORE NULLS)", "LEAD(a)"},
    "SELECT lag(a IGNORE NULLS) OVER (ORDER BY b) FROM t": {"LAG(a)"},
    "SELECT try_cast(a AS DOUBLE) < 1 FROM t": {"TRY_CAST(a AS BIGINT)"},
    "SELECT CAST(a AS INT) FROM t": {"a", "CAST(a AS DOUBLE)"},
    "SELECT a FROM t ORDER BY a, b, c LIMIT 2": {"ORDER BY b, a, c", "ORDER BY a, c, b"},
    "SELECT first(a ORDER BY b, c) FROM t": {"a ORDER BY c, b"},
    "SELECT a FROM t UNION SELECT a FROM u": {"SELECT a FROM t UNION ALL SELECT a FROM u"},
}


@pytest.mark.parametrize("sql", MUTATIONS)
def test_mistakes_that_people_make_are_among_the_small_changes(sql: str) -> None:
    found = {one.sql("duckdb") for node in sqlglot.parse_one(sql, dialect="duckdb").walk() for one in others(node)}
    assert found >= MUTATIONS[sql]


@pytest.mark.parametrize("sql", ["SELECT a FROM t WHERE count(*) > 1", "SELECT a FROM t WHERE coalesce(a, 0) = 1"])
def test_a_comparison_without_null_gets_no_default(sql: str) -> None:
    found = [one.sql("duckdb") for node in sqlglot.parse_one(sql, dialect="duckdb").walk() for one in others(node)]
    assert found
    assert not any(one.startswith("COALESCE(") and one.endswith(", TRUE)") for one in found)


PROBES = [
    ("SELECT a FROM t WHERE a > 5 AND a * a > 36", "a > 5", "a >= 5", "(5), (6), (7), (5)", 2),
    ("SELECT count(*) FROM t GROUP BY a HAVING count(*) > 1", "COUNT(*) > 1", "COUNT(*) >= 1", "(1), (2), (2)", 1),
    ("WITH c AS (SELECT a FROM t) SELECT sum(CASE WHEN a > 1 THEN 1 END) FROM c", "a > 1", "a >= 1", "(1), (2)", 1),
    ("SELECT a FROM t QUALIFY rank() OVER (ORDER BY a) = 1", "RANK()", "ROW_NUMBER()", "(1), (1), (2)", 1),
    (
        "SELECT 1 FROM (SELECT DISTINCT a FROM t) AS u",
        "SELECT DISTINCT a FROM t",
        "SELECT a FROM t",
        "(1), (1), (2)",
        1,
    ),
    (
        "SELECT 1 FROM t JOIN t AS u ON t.a = u.a + 1",
        "JOIN t AS u ON t.a = u.a + 1",
        "LEFT JOIN t AS u ON t.a = u.a + 1",
        "(1), (2), (5)",
        2,
    ),
    ("SELECT t.a FROM t JOIN t AS u ON t.a < u.a", "t.a < u.a", "t.a <= u.a", "(1), (2)", 2),
]


@pytest.mark.parametrize(("sql", "old", "new", "rows", "count"), PROBES)
def test_a_probe_counts_the_rows_with_another_value_in_its_place(
    sql: str, old: str, new: str, rows: str, count: int
) -> None:
    statement = sqlglot.parse_one(sql, dialect="duckdb")
    place = next(n for n, node in enumerate(statement.walk()) if node.sql("duckdb") == old)
    node = next(islice(statement.walk(), place, None))
    other = next(one for one in others(node) if one.sql("duckdb") == new)
    probe = probe_of(statement, place, other)
    assert probe is not None
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}) AS v(a)")
        assert connection.execute(probe.sql("duckdb")).fetchall()[0][0] == count


def test_an_order_or_a_limit_has_no_probe() -> None:
    statement = sqlglot.parse_one("SELECT a FROM t ORDER BY a LIMIT 1", dialect="duckdb")
    found = [probe_of(statement, place, other) for place, node in enumerate(statement.walk()) for other in others(node)]
    assert found
    assert set(found) == {None}
