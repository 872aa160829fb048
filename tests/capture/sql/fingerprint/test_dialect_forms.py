"""Spellings of one meaning in Postgres, Snowflake and BigQuery alone, by their documentation, and near misses."""

import pytest

from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.names import DatasetName

CASES = [
    # Each row: a dialect, two spellings of one meaning, and what differs from both.
    ("bigquery", "SELECT COUNTIF(a > 1) AS n FROM t", "SELECT COUNT(IF(a > 1, 1, NULL)) AS n FROM t",
     "SELECT COUNT(IF(a > 1, 1, 0)) AS n FROM t"),
    ("bigquery", "SELECT DATE(a) AS d FROM t", "SELECT CAST(a AS DATE) AS d FROM t",
     "SELECT DATE(a, 'Europe/Rome') AS d FROM t"),
    ("snowflake", "SELECT TO_DATE(a) AS d FROM t", "SELECT a::DATE AS d FROM t",
     "SELECT TO_DATE(a, 'DD.MM.YYYY') AS d FROM t"),
    ("postgres", "SELECT date(a) AS d FROM t", "SELECT a::date AS d FROM t", "SELECT a::timestamp AS d FROM t"),
    ("postgres", "SELECT coalesce(a::varchar, '') || b::varchar AS k FROM t",
     "SELECT coalesce(a::text, '') || cast(b AS text) AS k FROM t",
     "SELECT coalesce(a::varchar(2), '') || b::varchar AS k FROM t"),
]  # fmt: skip


def is_silent(dialect: str, *texts: str) -> bool:
    before, after = (
        ProjectCode(
            dialect=dialect,
            namespace="w",
            codes=(Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("w", "m"), table="m"),),
            columns={"t": ("a", "b"), "u": ("a", "c")},
        )
        for sql in texts
    )
    return all(change.kind.is_harmless for change in compare_projects(before, after))


@pytest.mark.parametrize(("dialect", "one", "same", "different"), CASES)
def test_spellings_of_a_dialect_are_silent_and_others_are_not(
    dialect: str, one: str, same: str, different: str
) -> None:
    assert is_silent(dialect, one, same)
    assert not is_silent(dialect, one, different)
    assert not is_silent(dialect, same, different)


def test_what_counts_in_other_dialects_is_not_called_a_count() -> None:
    """DuckDB's sum has another type; Snowflake documents NULL where nothing counts."""
    assert not any(
        is_silent(dialect, "SELECT count_if(a > 1) AS n FROM t", "SELECT count(CASE WHEN a > 1 THEN 1 END) AS n FROM t")
        for dialect in ("duckdb", "snowflake")
    )
    assert not is_silent("snowflake", "SELECT TRY_TO_DATE(a) AS d FROM t", "SELECT a::DATE AS d FROM t")
    assert not is_silent("mysql", "SELECT date(a) AS d FROM t", "SELECT cast(a AS date) AS d FROM t")


DIFFERENT = [
    # Each row: a dialect and two queries that its documentation tells apart.
    ("tsql", "SELECT isnull(a, 0.5) AS v FROM t", "SELECT coalesce(a, 0.5) AS v FROM t"),
    ("tsql", "SELECT count_big(*) AS n FROM t", "SELECT count(*) AS n FROM t"),
    ("oracle", "SELECT t.a FROM t, u WHERE t.a = u.a(+)", "SELECT t.a FROM t, u WHERE t.a = u.a"),
    ("oracle", "SELECT t.a FROM t, u WHERE t.a = u.a(+)", "SELECT t.a FROM t, u WHERE t.a(+) = u.a"),
    ("oracle", "SELECT a FROM t WHERE rownum <= 5 AND b > 0",
     "SELECT a FROM (SELECT * FROM t WHERE rownum <= 5) WHERE b > 0"),
    ("oracle", "SELECT nth_value(a, 2) FROM LAST OVER (ORDER BY b) AS v FROM t",
     "SELECT nth_value(a, 2) OVER (ORDER BY b) AS v FROM t"),
    ("clickhouse", "SELECT a FROM t FINAL", "SELECT a FROM t"),
    ("clickhouse", "SELECT a FROM t ORDER BY a WITH FILL", "SELECT a FROM t ORDER BY a"),
    ("snowflake", "SELECT t.a FROM t ASOF JOIN u MATCH_CONDITION (t.a >= u.a)",
     "SELECT t.a FROM t ASOF JOIN u MATCH_CONDITION (t.a <= u.a)"),
    ("bigquery", "SELECT a, b FROM t FULL OUTER UNION ALL BY NAME SELECT a, c FROM u",
     "SELECT a, b FROM t LEFT OUTER UNION ALL BY NAME SELECT a, c FROM u"),
    ("bigquery", "SELECT ARRAY(SELECT a FROM t ORDER BY a) AS v", "SELECT ARRAY(SELECT a FROM t ORDER BY a DESC) AS v"),
    ("postgres", "SELECT CASE WHEN a > 0 THEN a WHEN false THEN 1.5 END AS v FROM t",
     "SELECT CASE WHEN a > 0 THEN a END AS v FROM t"),
    ("postgres", "SELECT CASE WHEN z.a > 0 THEN z.a WHEN false THEN 1.5 END AS v FROM unknown z",
     "SELECT CASE WHEN z.a > 0 THEN z.a END AS v FROM unknown z"),
    ("postgres",
     "WITH RECURSIVE r AS (SELECT a, b FROM t UNION ALL SELECT t.a, t.b FROM t JOIN r ON t.b = r.a) "
     "SEARCH DEPTH FIRST BY a SET o SELECT a FROM r ORDER BY o LIMIT 3",
     "WITH RECURSIVE r AS (SELECT a, b FROM t UNION ALL SELECT t.a, t.b FROM t JOIN r ON t.b = r.a) "
     "SEARCH BREADTH FIRST BY a SET o SELECT a FROM r ORDER BY o LIMIT 3"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "one", "other"), DIFFERENT)
def test_what_a_clause_of_a_dialect_decides_is_not_silent(dialect: str, one: str, other: str) -> None:
    assert is_silent(dialect, one, one)
    assert not is_silent(dialect, one, other)
    assert not is_silent(dialect, other, one)
