"""An edge into the rows of a table has the text of the conditions in which its source stands."""

import pytest

from whence.capture.sql import Catalog, read_script
from whence.capture.sql.events.datasets import EventDataset
from whence.capture.sql.events.enrichment import ReportedSql, read_event_sql
from whence.model.names import DatasetName

CATALOG = Catalog.from_columns({"t": ("a", "b", "k"), "u": ("k", "z"), "x": ("a",)}, "postgres")


def conditions(text: str, dialect: str = "postgres") -> set[tuple[str, str, str]]:
    """Source, kind and text of the edges into rows."""
    edges = read_script(text, dialect, CATALOG).collapsed
    return {(str(edge.source), edge.subtype, edge.expression) for edge in edges if str(edge.target) in ("result", "x")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM t WHERE a > 1 AND b < a", {("t.a", "FILTER", "a > 1; b < a"), ("t.b", "FILTER", "b < a")}),
        ("SELECT a FROM t WHERE a = 1 OR (b IS NULL)", {(f"t.{c}", "FILTER", "a = 1 OR (b IS NULL)") for c in "ab"}),
        ("SELECT a FROM t JOIN u ON t.k = u.k", {("t.k", "JOIN", "t.k = u.k"), ("u.k", "JOIN", "t.k = u.k")}),
        ("SELECT a FROM t JOIN u USING (k)", {("t.k", "JOIN", "USING (k)"), ("u.k", "JOIN", "USING (k)")}),
        ("SELECT a FROM t NATURAL JOIN u", {("t.k", "JOIN", "NATURAL (k)"), ("u.k", "JOIN", "NATURAL (k)")}),
        ("SELECT lower(a) FROM t GROUP BY 1", {("t.a", "GROUP_BY", "LOWER(a)")}),
        ("SELECT a FROM t ORDER BY a + b DESC", {("t.a", "SORT", "a + b"), ("t.b", "SORT", "a + b")}),
        ("SELECT sum(b) FROM t HAVING sum(b) > 3", {("t.b", "FILTER", "SUM(b) > 3")}),
        ("DELETE FROM x WHERE a <> 'it''s'", {("x.a", "FILTER", "a <> 'it''s'")}),
        ("SELECT a FROM t EXCEPT SELECT k FROM u", {("u.k", "FILTER", "EXCEPT")}),
    ],
)
def test_the_text_of_a_condition(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert conditions(text) == expected


def test_a_query_inside_is_left_out_and_has_conditions_of_its_own() -> None:
    inner = "SELECT z FROM u WHERE u.k = t.k"
    assert conditions(f"SELECT a FROM t WHERE EXISTS ({inner}) AND b IN ({inner})") == {
        ("u.k", "FILTER", "u.k = t.k"),
        ("t.k", "FILTER", "u.k = t.k"),
        ("t.b", "FILTER", "b IN (…)"),
        ("u.z", "FILTER", "b IN (…)"),
    }


def test_the_condition_of_a_query_with_a_name_reaches_the_target() -> None:
    text = "WITH c AS (SELECT a, k FROM t WHERE b = 1) INSERT INTO x SELECT a FROM c WHERE k = 2"
    assert conditions(text) == {("t.b", "FILTER", "b = 1"), ("t.k", "FILTER", "k = 2")}


def test_the_condition_of_a_temporary_table_reaches_what_is_made_of_it() -> None:
    text = "CREATE TEMP TABLE c AS SELECT a AS n FROM t WHERE b = 1; INSERT INTO x SELECT n FROM c WHERE n = 2"
    assert conditions(text) == {("t.b", "FILTER", "b = 1"), ("t.a", "FILTER", "n = 2")}


def test_a_long_list_and_a_long_chain_are_read() -> None:
    many = ", ".join(map(str, range(5_000)))
    assert conditions(f"SELECT a FROM t WHERE a IN ({many})") == {("t.a", "FILTER", "a IN (0, 1, 2, …)")}
    chain = " OR ".join(f"a = {index}" for index in range(3_000))
    ((source, kind, text),) = conditions(f"SELECT a FROM t WHERE {chain}")
    assert (source, kind, text.count(" OR ")) == ("t.a", "FILTER", 2_999)


def test_the_state_of_a_job_has_no_conditions() -> None:
    """They have another literal on every day: each run would be lineage of its own."""

    def read(batch: int) -> object:
        one, other = (EventDataset(name=DatasetName("pg", name)) for name in ("t", "x"))
        text = f"insert into x (a) select a from t where k = {batch}"
        return read_event_sql(ReportedSql(query=text, dialect="postgres", inputs=(one,), outputs=(other,)))

    assert read(1) == read(2)
