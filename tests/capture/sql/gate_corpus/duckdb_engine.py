"""Random databases in DuckDB: for TPC-DS, and for statements that Spark cannot execute without a table format."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from random import Random

import duckdb

from capture.sql.gate_corpus import shop
from capture.sql.gate_corpus.estates import WITH_ROWS, Estate, find_estate
from capture.sql.gate_corpus.execution import Database, StatementError, Table
from capture.sql.gate_corpus.query_edits import TPCH
from capture.sql.generated import tpcds, tpch
from capture.sql.generated.companies.market import quoted
from capture.sql.oracles.perturbation import Kind, text_of

WITHOUT_ROWS, TRIED = 6, 300
"""How many databases to have where a query has no answer, and out of how many all are."""
_BASE = {
    "i": Kind("INTEGER", (1, 0, 3, 7, 40, -2)),
    "t": Kind("VARCHAR", ("x", "Y ", "", "é'\"x", "z")),
    "d": Kind("DATE", (date(2000, 2, 3), date(2001, 4, 2), date(1999, 8, 5))),
}
_BROKEN = (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException)
EMPTY = 4
"""How many databases have empty tables: all in the first, then one in each."""


class DuckDBEngine:
    @contextmanager
    def databases(self, versions: Sequence[str], statement: str) -> Iterator[Sequence[Database]]:
        name = statement.removeprefix("query ")
        if statement.startswith(TPCH):
            made = list(_useful((_tpch(seed, versions) for seed in range(TRIED)), versions[0]))
        elif estate := find_estate(statement):
            every = (_of_estate(estate, seed, versions) for seed in range(TRIED))
            made = list(_useful(every, versions[0], estate.rows))
        elif statement != name:
            made = list(_useful((_tpcds(name, seed, versions) for seed in range(TRIED)), versions[0]))
        else:
            made = [_shop(seed, versions[0]) for seed in range(WITH_ROWS)]
        try:
            yield [
                *made,
                *(
                    DuckDBDatabase(one.connection, one.target, one.tables, place)
                    for place, one in enumerate(made[:EMPTY])
                ),
            ]
        finally:
            for one in made:
                one.connection.close()


@dataclass(frozen=True, slots=True)
class DuckDBDatabase:
    """`target`: the table that a statement writes; without it the statement is a query. `emptied`: which is empty."""

    connection: duckdb.DuckDBPyConnection
    target: str
    tables: tuple[str, ...]
    emptied: int | None = None

    def run(self, sql: str) -> Table:
        self.connection.execute("BEGIN")
        try:
            for table in self._empty():
                self.connection.execute(f"DELETE FROM {table}")
            cursor = self.connection.execute(sql)
            if self.target:
                cursor = self.connection.execute(f"FROM {self.target}")
            types = {name: str(kind) for name, kind, *_ in cursor.description}
            return Table(types, tuple(tuple(map(text_of, row)) for row in cursor.fetchall()))
        except duckdb.Error as error:
            raise StatementError(str(error).splitlines()[0], isinstance(error, _BROKEN)) from None
        finally:
            self.connection.execute("ROLLBACK")

    def _empty(self) -> Sequence[str]:
        """All tables in the first such database, then one in each."""
        if self.emptied is None:
            return ()
        return (self.tables[self.emptied % len(self.tables)],) if self.emptied else self.tables


def _useful(databases: Iterable[DuckDBDatabase], sql: str, with_rows: int = WITH_ROWS) -> Iterator[DuckDBDatabase]:
    missing = {True: with_rows, False: WITHOUT_ROWS}
    for database in databases:
        has_effect = _has_effect(database, sql)
        missing[has_effect] -= 1
        if missing[has_effect] >= 0:
            yield database
        if missing[True] <= 0:
            return


def _has_effect(database: DuckDBDatabase, sql: str) -> bool:
    """Whether a query has rows, or a statement changes the table that it writes."""
    rows = database.run(sql).rows
    return bool(rows) and (database.target not in database.tables or rows != database.run("SELECT 1").rows)


def _tpcds(name: str, seed: int, versions: Sequence[str]) -> DuckDBDatabase:
    estate = tpcds.estate_of(name, seed, versions, _BASE)
    estate.connection.execute("SET search_path = 'main'")
    return DuckDBDatabase(estate.connection, "", tuple(estate.columns))


def _tpch(seed: int, versions: Sequence[str]) -> DuckDBDatabase:
    estate = tpch.estate_of(seed, versions)
    estate.connection.execute("SET search_path = 'main'")
    return DuckDBDatabase(estate.connection, "", tuple(estate.columns))


def _shop(seed: int, statement: str) -> DuckDBDatabase:
    connection = duckdb.connect(config={"threads": 1})
    for sql in shop.scripts(Random(seed), "duckdb"):
        connection.execute(sql)
    return DuckDBDatabase(connection, shop.target_of(statement) or "", ("customers",))


def _of_estate(estate: Estate, seed: int, versions: Sequence[str]) -> DuckDBDatabase:
    connection = duckdb.connect(config={"threads": 1, "memory_limit": "500MB"})
    connection.execute("SET timezone = 'UTC'")
    for sql in estate.module.scripts(seed, versions):
        connection.execute(sql)
    names = estate.module.tables_of("\n".join(versions))
    tables = tuple(map(quoted, names) if estate.is_quoted else names)
    return DuckDBDatabase(connection, estate.target_of(versions[0]), tables)
