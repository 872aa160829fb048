"""Many databases at once: each gives what it gives alone, and one that fails takes no other with it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlglot

from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.batches.answers import Batch
from whence.capture.sql.trials.batches.statements import over_many
from whence.capture.sql.trials.execution import Failure, Laboratory, open_laboratory
from whence.capture.sql.trials.generation.tables import Database, InputColumn, InputTable
from whence.capture.sql.trials.generation.values import shape_of
from whence.capture.sql.trials.plans import Plan, Step
from whence.model.names import DatasetName

ANSWER = DatasetName("duckdb", "answer")
DATABASES = (
    Database(0, ((), ())),
    Database(3, ((("1", "'a'"), ("1", "'a'"), ("2", "NULL")), (("1", "-0.0"), ("2", "'NaN'")))),
    Database(4, ((("NULL", "'it''s'"), ("2", "'b'")), ())),
    Database(9, ((("3", "'7'"), ("2", "'8'")), (("3", "0.5"), ("3", "1.5")))),
)


def table(name: tuple[str, ...], **types: str) -> InputTable:
    columns = []
    for column, type_ in types.items():
        shape = shape_of(type_)
        assert shape is not None
        columns.append(InputColumn(column, shape, column))
    return InputTable(name, tuple(columns))


TABLES = (table(("t",), id="INTEGER", note="VARCHAR"), table(("raw", "u"), id="INTEGER", size="DOUBLE"))


def plan_of(*sqls: str) -> Plan:
    """Models `m0`, `m1`, …; the last one is the answer."""
    steps = tuple(
        Step(
            file=f"m{place}.sql",
            sql=sql,
            statements=tuple(one for one in sqlglot.parse(sql, dialect="duckdb") if one is not None),
            table=Table((f"m{place}",)),
            reads=frozenset(),
            writes=frozenset({Table((f"m{place}",))}),
        )
        for place, sql in enumerate(sqls)
    )
    return Plan(steps=steps, outputs={ANSWER: Table((f"m{len(sqls) - 1}",))})


@contextmanager
def opened() -> Iterator[tuple[Laboratory, Batch]]:
    with open_laboratory(TABLES, ()) as laboratory:
        batch = Batch(laboratory, TABLES)
        batch.load(DATABASES)
        yield laboratory, batch


QUERIES = {
    "an aggregate without rows": ("SELECT count(*) AS n, max(note) AS m FROM t",),
    "a window": ("SELECT *, row_number() OVER (PARTITION BY id ORDER BY note) AS n FROM t",),
    "the first rows": ("SELECT id FROM t ORDER BY id DESC NULLS LAST LIMIT 1",),
    "a join with a name of a schema": ("SELECT t.note, u.size FROM t LEFT JOIN raw.u ON raw.u.id = t.id",),
    "a subquery for each row": ("SELECT id FROM t AS o WHERE EXISTS (SELECT 1 FROM raw.u WHERE u.id = o.id)",),
    "set operations": ("SELECT id FROM t EXCEPT SELECT id FROM raw.u UNION ALL SELECT id FROM t",),
    "repeated rows": (
        "WITH c AS (SELECT DISTINCT id, note FROM t) SELECT count(*) AS n FROM c JOIN c AS d USING (id)",
    ),
    "values that differ in nothing but a sign": ("SELECT size FROM raw.u",),
    "a model of a model": (
        "SELECT id, count(*) AS n FROM t GROUP BY id",
        "SELECT t.note, m0.n FROM t JOIN m0 USING (id)",
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_many_databases_give_what_each_gives_alone(name: str) -> None:
    plan = plan_of(*QUERIES[name])
    with opened() as (laboratory, batch):
        sql = over_many(plan, batch.names)
        assert sql is not None
        outcomes = batch.run(sql)
        assert not isinstance(outcomes, Failure), outcomes
        for database in DATABASES:
            laboratory.load(database)
            alone, found = laboratory.run(plan), outcomes[ANSWER].rows_of(database.number)
            assert not isinstance(alone, Failure)
            assert sorted(found.rows) == sorted(alone[ANSWER].rows)
            assert found.types == alone[ANSWER].types


def test_a_database_that_fails_is_left_out() -> None:
    with opened() as (_, batch):
        sql = over_many(plan_of("SELECT CAST(note AS INTEGER) AS n FROM t"), batch.names)
        assert sql is not None
        outcomes = batch.run(sql)
        assert not isinstance(outcomes, Failure), outcomes
        assert {number: len(rows) for number, rows in outcomes[ANSWER].rows.items()} == {0: 0, 9: 2}


NOT_AT_ONCE = [
    "INSERT INTO t SELECT id, 'x' FROM raw.u",
    "WITH t AS (SELECT id FROM t) SELECT id FROM t",
    "SELECT id FROM t TABLESAMPLE 50%",
]


@pytest.mark.parametrize("sql", NOT_AT_ONCE)
def test_what_is_no_plain_query_runs_on_one_database_at_a_time(sql: str) -> None:
    with opened() as (_, batch):
        assert over_many(plan_of(sql), batch.names) is None


def test_a_statement_that_no_database_takes_is_broken() -> None:
    with opened() as (_, batch):
        sql = over_many(plan_of("SELECT missing FROM t"), batch.names)
        assert sql is not None
        outcomes = batch.run(sql)
        assert isinstance(outcomes, Failure)
        assert outcomes.is_broken
