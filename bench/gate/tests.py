"""Which injected faults the smaller set of tests would miss: `python -m bench.gate.tests` (docs/reference/gate.md).

The faults are the harmful edits of the gate's corpus (`tests/capture/sql/gate_corpus`). The tests are made of the base
on a random database: every assertion of dbt's four kinds, and of row counts, that holds there. Each edit is built in
DuckDB, and all tests run. A fault that a test finds counts as missed if no selected test finds it.
"""

import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import duckdb

from capture.sql.fingerprint.gate_accuracy import project_of
from capture.sql.gate_corpus import corpus, truth
from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql_log import Settings
from whence.capture.sql_log.events import script_event
from whence.govern.gate.impact import Facts
from whence.govern.gate.production import GraphEdge, Subgraph
from whence.govern.gate.project import Project, edges_of
from whence.govern.gate.relevant_tests import KnownTest, TestSelection, select_tests
from whence.govern.gate.walk import assess
from whence.model.names import DatasetName, FieldName, Node

NAMESPACE = "duckdb"
CRITICAL = "exp_revenue_dashboard"
"""The one dataset of tier 1."""
_FEW = 6
"""Distinct values up to which a column gets a test of accepted values."""


@dataclass(frozen=True)
class DataTest:
    """A query that finds no row if the test holds."""

    test: KnownTest
    sql: str


def main() -> None:
    connection = truth.database(0)
    assert truth.build(connection, corpus.models(), "base") is None
    tests = list(data_tests(connection))
    rows = [score(connection, number, tests) for number in harmful()]
    found = [one for one in rows if one.by_all]
    missed = [one for one in found if not one.by_selected]
    sys.stdout.write(f"tests that hold on the base: {len(tests)}; harmful edits that build: {len(rows)}\n")
    sys.stdout.write(f"found by all tests:          {len(found)}\n")
    sys.stdout.write(f"found by the selected tests: {len(found) - len(missed)}; missed: {len(missed)}\n")
    all_failures, seen = sum(len(one.by_all) for one in rows), sum(len(one.by_selected) for one in rows)
    sys.stdout.write(f"failures of single tests: {all_failures}; of selected tests: {seen}\n")
    saved = [one.saved for one in rows]
    sys.stdout.write(f"tests saved: median {statistics.median(saved):.0%}, mean {statistics.mean(saved):.0%}\n")
    for one in missed:
        sys.stdout.write(f"  missed: {one.number} {corpus.edits()[one.number].kind}: {', '.join(one.by_all[:5])}\n")


def harmful() -> Iterator[int]:
    return (one["number"] for one in corpus.truths() if not one["harmless"] and not one["broken"])


@dataclass(frozen=True)
class Score:
    number: int
    by_all: tuple[str, ...]
    by_selected: tuple[str, ...]
    saved: float


READINGS = Readings()


def score(connection: duckdb.DuckDBPyConnection, number: int, tests: list[DataTest]) -> Score:
    selection = selected(number, [one.test for one in tests])
    names = {one.test.name for one in selection.selected}
    assert truth.build(connection, corpus.edited(number), "head") is None
    failed = tuple(one.test.name for one in tests if not holds(connection, one, "head"))
    connection.execute("set search_path = 'main'; drop schema head cascade")
    return Score(number, failed, tuple(one for one in failed if one in names), selection.saved)


def selected(number: int, tests: list[KnownTest]) -> TestSelection:
    """What the gate selects for an edit, where production is what the base's code says."""
    edges = edges_in(corpus.models())
    changes = compare_projects(project_of(corpus.models()), project_of(corpus.edited(number)), READINGS)
    project = Project(base=edges, head=edges_in(corpus.edited(number)))
    return select_tests(assess(changes, Production(edges), project), tests, frozenset({1}))


@dataclass(frozen=True)
class Production:
    """The graph that the base's code would have made: all of it, whatever is asked."""

    edges: tuple[GraphEdge, ...]

    def downstream(self, node: Node) -> Subgraph:
        return Subgraph(edges=self.edges, graph_version="base")

    def facts(self, nodes: object) -> Mapping[Node, Facts]:
        return {DatasetName(NAMESPACE, CRITICAL): Facts(tier=1)}


def edges_in(models: Mapping[str, str]) -> tuple[GraphEdge, ...]:
    known = {f"raw.{table}": columns for table, columns in raw_columns().items()} | dict(corpus.columns())
    settings = Settings(
        dialect="duckdb",
        namespace=NAMESPACE,
        jobs=NAMESPACE,
        time=0,
        catalog=Catalog.from_columns(known, "duckdb"),
    )
    scripts = {name: f"create table {name} as {truth.render(text)}" for name, text in models.items()}
    return edges_of(script_event(text, name, settings) for name, text in scripts.items()).graph


def raw_columns() -> Mapping[str, tuple[str, ...]]:
    columns = project_of(corpus.models()).columns
    return {name.removeprefix("raw."): tuple(found) for name, found in columns.items()}


def data_tests(connection: duckdb.DuckDBPyConnection) -> Iterator[DataTest]:
    """The tests that hold on the base."""
    for model, columns in corpus.columns().items():
        for column in columns:
            yield from (one for one in tests_of(connection, model, column) if holds(connection, one, "base"))
        (count,) = connection.execute(f"select count(*) from base.{model}").fetchone() or (0,)
        table = DatasetName(NAMESPACE, model)
        test = KnownTest(name=f"rows_{model}", assertion="rows", tables=(table,), reads=())
        yield DataTest(test, f"select 1 from (select count(*) as n from {{schema}}.{model}) where n <> {count}")


def tests_of(connection: duckdb.DuckDBPyConnection, model: str, column: str) -> Iterator[DataTest]:
    name, table = f'"{column}"', f"{{schema}}.{model}"
    yield of(model, column, "not_null", f"select 1 from {table} where {name} is null")
    yield of(
        model, column, "unique", f"select 1 from {table} where {name} is not null group by {name} having count(*) > 1"
    )
    values = connection.execute(
        f"select distinct {name}::varchar from base.{model} where {name} is not null"
    ).fetchall()
    if 0 < len(values) <= _FEW:
        listed = ", ".join("'" + str(value).replace("'", "''") + "'" for (value,) in values)
        yield of(model, column, "accepted_values", f"select 1 from {table} where {name}::varchar not in ({listed})")


def of(model: str, column: str, assertion: str, sql: str) -> DataTest:
    table = DatasetName(NAMESPACE, model)
    reads = (FieldName(table, column),)
    return DataTest(
        KnownTest(name=f"{assertion}_{model}_{column}", assertion=assertion, tables=(table,), reads=reads), sql
    )


def holds(connection: duckdb.DuckDBPyConnection, one: DataTest, schema: str) -> bool:
    """Whether it finds nothing; a column that is no more fails it."""
    try:
        return not connection.execute(one.sql.format(schema=schema) + " limit 1").fetchall()
    except duckdb.Error:
        return False


if __name__ == "__main__":
    main()
