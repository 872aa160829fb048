"""Names of functions and pseudo-columns are columns wherever the dialect does not say otherwise."""

import pytest

from whence.capture.sql import read_script
from whence.capture.sql.dialects.dialects import DIALECTS

_QUOTES = {"bigquery": "`", "mysql": "`", "hive": "`", "impala": "`", "spark": "`", "databricks": "`"}
_WORDS = ("date", "time", "timestamp", "user", "level", "uid", "rownum", "oid", "nextval", "maxvalue", "year", "m")


def edges_of(text: str, dialect: str) -> set[str]:
    found = read_script(text, dialect)
    assert all(statement.status in ("parsed", "partial") for statement in found.statements), found.statements
    return {f"{edge.target} {edge.subtype} {edge.source}".lower() for edge in found.collapsed}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_words_of_dates_are_columns_without_a_schema(dialect: str) -> None:
    text = "insert into daily (date, total) select date, sum(amount) from sales where time > 1 group by date"
    assert edges_of(text, dialect) == {
        "daily.date identity sales.date",
        "daily.total aggregation sales.amount",
        "daily group_by sales.date",
        "daily filter sales.time",
    }
    inner = "with c as (select date, timestamp from t) select date, timestamp from c"
    assert edges_of(inner, dialect) == {"result.date identity t.date", "result.timestamp identity t.timestamp"}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("word", _WORDS)
def test_a_quoted_word_is_a_column(dialect: str, word: str) -> None:
    mark = _QUOTES.get(dialect, '"')
    name = word.upper() if dialect in ("oracle", "snowflake") else word
    assert edges_of(f"select {mark}{name}{mark} as x from t", dialect) == {f"result.x identity t.{word}"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_oracle_has_level_and_rownum(dialect: str) -> None:
    found = edges_of("select level as a, uid as b from t", dialect)
    assert found == (set() if dialect == "oracle" else {"result.a identity t.level", "result.b identity t.uid"})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_user_is_a_function_where_the_manual_says_so(dialect: str) -> None:
    functions = ("postgres", "redshift", "oracle", "tsql", "teradata")
    found = edges_of("select user as a from t", dialect)
    assert found == (set() if dialect in functions else {"result.a identity t.user"})


@pytest.mark.parametrize("dialect", ["spark", "databricks", "duckdb", "generic"])
def test_a_name_that_may_be_either_is_less_sure(dialect: str) -> None:
    script = read_script("select user as a from t", dialect)
    (edge,), (statement,) = script.collapsed, script.statements
    assert [(unknown.reason, unknown.name) for unknown in statement.unknowns] == [("column_ambiguous", "user")]
    assert (edge.confidence, edge.reason) == (0.5, "may be a function or a pseudo-column")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parts_of_dates_are_columns_in_functions_that_take_none(dialect: str) -> None:
    text = "select my_udf(year, month) as a, my_udf(d, q) as b, my_udf(m) as c from t"
    assert edges_of(text, dialect) == {
        "result.a transformation t.year",
        "result.a transformation t.month",
        "result.b transformation t.d",
        "result.b transformation t.q",
        "result.c transformation t.m",
    }


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "select t.ctid, xmin from t"),
        ("oracle", "select t.rowid, rownum, s.nextval from t"),
        ("sqlite", "select rowid, t._rowid_ from t"),
        ("bigquery", "select _partitiontime, t._table_suffix from t"),
        ("trino", 'select "$bucket", t."$bucket" from t'),
        ("clickhouse", "select _part, t._partition_id from t"),
        ("tsql", "select $action, current_timestamp from t"),
        ("mysql", "update t set a = default"),
    ],
)
def test_what_an_engine_adds_is_no_column(dialect: str, text: str) -> None:
    assert edges_of(text, dialect) == set()
