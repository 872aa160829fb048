"""Broken SQL is answered, in time, with places and reasons. `python -m bench.sql_reader.accuracy --fuzz 10000000`
tries more.
"""

import pytest

from capture.sql.generated.broken_texts import Broken, broken_texts, complaints
from whence.capture.sql import Budget, read_script


@pytest.mark.parametrize("seed", range(4))
def test_every_broken_text_is_answered(seed: int) -> None:
    for text in broken_texts(seed, 60_000):
        assert not list(complaints(text, Budget())), text


def test_all_dialects_are_tried() -> None:
    assert len({text.dialect for text in broken_texts(1, 200_000)}) >= 17


def test_a_budget_that_is_spent_is_not_a_complaint() -> None:
    one = Broken("postgres", "SELECT " + "(" * 300 + "1")
    assert not list(complaints(one, Budget(depth=50)))


def test_joins_without_conditions_do_not_hang() -> None:
    one = Broken("spark", f"SELECT x FROM a {'JOIN o a ' * 20}JOIN b ON a.k = b.k")
    assert not list(complaints(one, Budget()))


@pytest.mark.parametrize(
    "one",
    [
        Broken("tsql", "DELETE (SELECT t.a + t.b AS s) x WHERE x.s"),
        Broken("hive", "WITH m AS (DELETE FROM LATERAL live WHERE c RETURNING id) INSERT INTO a SELECT id FROM m"),
    ],
)
def test_a_delete_of_no_table_is_answered(one: Broken) -> None:
    assert not list(complaints(one, Budget()))


@pytest.mark.parametrize(
    "one",
    [
        Broken("mysql", "SELECT t.id, j.sku FROM t, JSON_TABLE("),
        Broken("mysql", "SELECT * FROM JSON_TABLE(t.x"),
        Broken("mysql", "INSERT INTO a (n) SELECT n FROM s ON DUPLICATE KEY UPDATE n = a.n + VALUES("),
        Broken("bigquery", "INSERT INTO ds.dst SELECT * REPLACE MERGE (price / 100 AS price) FROM ds.t"),
    ],
)
def test_what_the_parser_lets_pass_without_an_argument_is_answered(one: Broken) -> None:
    assert not list(complaints(one, Budget()))


@pytest.mark.parametrize("text", ["SHA256", "SELECT (", ""])
def test_dynamic_text_that_is_no_sql_is_unknown(text: str) -> None:
    one = Broken("oracle", f"EXECUTE IMMEDIATE '{text}'")
    assert not list(complaints(one, Budget()))
    (statement,) = read_script(one.text, one.dialect)
    assert [unknown.reason for unknown in statement.unknowns] == (["dynamic_sql"] if text else [])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT * FROM (", "Expected table name (line 1, column 15 of the statement)"),
        ("SELECT b\nFROM c WHERE (x", "Expecting ) (line 2, column 15 of the statement)"),
        ("SELECT 'abc", "Error tokenizing 'SELECT 'ab'"),
    ],
)
def test_what_is_wrong_and_where_is_said(text: str, error: str) -> None:
    _, failed = read_script(f"SELECT 1;\n{text}", "postgres")
    assert (failed.status, failed.error, failed.span.line) == ("failed", error, 2)
