"""Random databases in Spark for the statements of `queries/spark.txt`."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession

from capture.sql.gate_corpus import shop
from capture.sql.gate_corpus.execution import Database, StatementError, Table

SEEDS = 5
EMPTY = (frozenset(shop.COLUMNS), frozenset({"orders"}), frozenset({"customers"}))
"""Which tables have no rows in the last databases."""
_AS_VIEW = re.compile(r"^CREATE TABLE (\w+)(?: USING parquet)? AS\b")
"""Statements that run as a view with the same columns and rows, since writing is slow; others run as they are."""
_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ansi.enabled": "false",  # else an error of one row hides what the others show
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.legacy.createHiveTableByDefault": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
}


@cache
def _session() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for function in shop.FUNCTIONS:
        session.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function}")
    for number, empty in enumerate((*[frozenset[str]()] * SEEDS, *EMPTY)):
        session.sql(f"CREATE DATABASE shop_{number}")
        session.sql(f"USE shop_{number}")
        for table, columns in shop.COLUMNS.items():
            rows = shop.rows_of(Random(f"{number} {table}"), "spark", table, table in empty)
            session.sql(_view_of(table, columns, rows))
    return session


def _view_of(table: str, columns: Mapping[str, str], rows: Sequence[str]) -> str:
    """A view of values: a table would be written for nothing."""
    nulls = ", ".join(f"CAST(NULL AS {kind})" for kind in columns.values())
    names = ", ".join(f"`{name}`" for name in columns)
    where = "" if rows else " WHERE false"
    return f"CREATE VIEW {table} AS SELECT * FROM VALUES {', '.join(rows or (f'({nulls})',))} AS t({names}){where}"


def _create(session: SparkSession, table: str, rows: Sequence[str]) -> None:
    typed = ", ".join(f"`{name}` {kind}" for name, kind in shop.TARGETS[table].items())
    partitions = f"PARTITIONED BY ({shop.PARTITIONS[table]})" if table in shop.PARTITIONS else ""
    session.sql(f"CREATE TABLE {table} ({typed}) USING parquet {partitions}")
    if rows:
        session.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES {', '.join(rows)}")


class SparkEngine:
    @contextmanager
    def databases(self, versions: Sequence[str], statement: str) -> Iterator[Sequence[Database]]:
        session = _session()
        yield [SparkDatabase(session, number, statement) for number in range(SEEDS + len(EMPTY))]


@dataclass(frozen=True, slots=True)
class SparkDatabase:
    session: SparkSession
    number: int
    statement: str
    """Its name, which is that of the table or view that it writes."""

    def run(self, sql: str) -> Table:
        sql = _AS_VIEW.sub(r"CREATE OR REPLACE TEMPORARY VIEW \1 AS", sql)
        self.session.sql(f"USE shop_{self.number}")
        self._drop(sql)
        try:
            if self.statement in shop.TARGETS:
                _create(self.session, self.statement, self._rows())
            self.session.sql(sql)
            answer = self.session.table(self.statement)
            rows = tuple(tuple(map(_text, row)) for row in answer.collect())
            return Table({one.name: one.dataType.simpleString() for one in answer.schema}, rows)
        except (AnalysisException, ParseException) as error:
            raise StatementError(str(error).splitlines()[0], is_broken=True) from None
        except PySparkException as error:
            raise StatementError(str(error).splitlines()[0], is_broken=False) from None
        finally:
            self._drop(sql)

    def _rows(self) -> Sequence[str]:
        return shop.rows_of(Random(f"{self.number} {self.statement}"), "spark", self.statement)

    def _drop(self, sql: str) -> None:
        kind = "VIEW" if re.match(r"CREATE [A-Z ]*VIEW", sql) else "TABLE"
        self.session.sql(f"DROP {kind} IF EXISTS {self.statement}")


def _text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else repr(value)
