"""What a data test reads: the columns that decide on its result, from its kind or from its compiled SQL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.capture.dbt.artifacts.columns import catalog_of, table_of
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.ephemeral import PREFIX, split_ephemeral
from whence.capture.dbt.artifacts.names import Names, names
from whence.capture.dbt.artifacts.project import Project, Test
from whence.capture.sql import Catalog, Column, ScriptLineage, Table, read_script
from whence.capture.sql.provenance.relations import STAR
from whence.model.names import DatasetName, FieldName, Node

_OF_ONE_COLUMN = frozenset({"not_null", "unique", "accepted_values"})
"""dbt's own tests that read their column and nothing else, unless `where` narrows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReads:
    """The datasets whose rows a test reads, and its columns; a dataset among `columns` stands for any of its own."""

    tables: tuple[DatasetName, ...]
    columns: tuple[Node, ...]


def tested_columns(project: Project, warehouse: Warehouse) -> Mapping[str, TestReads]:
    """What each test of a project reads, by its unique id. Tests of nodes that the project lacks are left out."""
    reader = _Reader(project, names(project, warehouse, "dbt"), catalog_of(project, warehouse.dialect))
    found = ((test.unique_id, reader.read(test)) for test in project.tests.values())
    return {unique_id: reads for unique_id, reads in found if reads.tables}


class _Reader:
    def __init__(self, project: Project, names: Names, catalog: Catalog) -> None:
        self._project, self._names, self._catalog = project, names, catalog
        self._dialect = names.warehouse.dialect
        self._datasets = dict(self._tables())

    def _tables(self) -> Iterator[tuple[Table, DatasetName]]:
        for node in self._project.nodes.values():
            if node.relation:
                yield table_of(node, self._dialect), self._names.dataset(node)
            elif node.is_ephemeral:
                for name in {f"{PREFIX}{node.name}".lower(), f"{PREFIX}{node.name}".upper()}:
                    yield Table((name,)), self._names.dataset(node)

    def read(self, test: Test) -> TestReads:
        parents = [one for one in dict.fromkeys((test.node, *test.parents)) if one in self._project.nodes]
        tables = tuple(self._names.dataset(self._project.nodes[one]) for one in parents)
        return TestReads(tables=tables, columns=self._columns(test, tables))

    def _columns(self, test: Test, tables: tuple[DatasetName, ...]) -> tuple[Node, ...]:
        if test.is_generic and test.name in _OF_ONE_COLUMN and test.column and not test.config.get("where"):
            return tuple(FieldName(table, test.column) for table in tables[:1])
        if not test.sql or "{{" in test.sql or "{%" in test.sql:
            return tables
        script = read_script(split_ephemeral(test.sql).own, self._dialect, self._catalog)
        return tables if _is_unsure(script) else tuple(self._of_script(script))

    def _of_script(self, script: ScriptLineage) -> Iterator[Node]:
        """The sources of all edges. Those of whole tables count rows, which `TestReads.tables` has."""
        for source in dict.fromkeys(edge.source for edge in script.collapsed):
            if not isinstance(source, Column) or source.table not in self._datasets:
                continue
            dataset = self._datasets[source.table]
            yield dataset if source.name == STAR else FieldName(dataset, source.name)


def _is_unsure(script: ScriptLineage) -> bool:
    return not script.statements or any(one.status != "parsed" or one.unknowns for one in script)
