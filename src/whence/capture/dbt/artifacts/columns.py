"""The spelling of columns: as in the warehouse (catalog), else as its dialect folds the project's spelling.

SQL is read with folded names, since DuckDB and others read `orderId` and `orderid` as one column. In events a column
has the warehouse's name, so that lineage and schema refer to the same column.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from whence.capture.dbt.artifacts.project import Node, Project
from whence.capture.sql import RESULT, Catalog, Column, Edge, Table

_QUOTES = {"postgres": '"', "snowflake": '"', "oracle": '"'}
"""Dialects in which a quoted name differs from the same name without quotes."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The column names of tables, by the table and the column's name in lower case."""

    names: Mapping[Table, Mapping[str, str]]

    def edges(self, edges: Iterable[Edge], result: Table | None) -> tuple[Edge, ...]:
        """The edges with the tables' spelling of columns. `result`: the table that receives the result of a SELECT."""
        return tuple(
            replace(edge, source=self._end(edge.source), target=self._result(edge.target, result)) for edge in edges
        )

    def _result(self, end: Column | Table, result: Table | None) -> Column | Table:
        if not isinstance(end, Column) or end.table != RESULT or result is None:
            return self._end(end)
        return Column(RESULT, self._spelling(result, end.name))

    def _end(self, end: Column | Table) -> Column | Table:
        return Column(end.table, self._spelling(end.table, end.name)) if isinstance(end, Column) else end

    def _spelling(self, table: Table, name: str) -> str:
        known = self.names.get(table)
        return known.get(name, known.get(name.lower(), name)) if known else name


def catalog_of(project: Project, dialect: str) -> Catalog:
    """The catalog for reading SQL: the tables with completely known columns.

    A project without an enforced contract describes some columns of a table. A reader that took them for all would lose
    others.
    """
    quote = _QUOTES.get(dialect, "")
    columns_by_relation = {
        node.relation: [_quote(column.name, quote if node.in_catalog else "") for column in node.columns]
        for node in project.nodes.values()
        if node.relation and node.columns and (node.in_catalog or node.contract.get("enforced") is True)
    }
    return Catalog.from_columns(columns_by_relation, dialect)


def spelling_of(project: Project, dialect: str) -> Spelling:
    """The column spelling of a project's tables."""
    return Spelling(
        {
            table_of(node, dialect): {
                **{column.name.lower(): column.name for column in node.columns},
                **{column.name: column.name for column in node.columns},
            }
            for node in project.nodes.values()
            if node.relation and node.columns
        }
    )


def fold_columns(project: Project, dialect: str) -> Project:
    """Fold the columns that only the project's own files name, as the dialect folds them."""
    nodes = {name: node if node.in_catalog else _fold_node(node, dialect) for name, node in project.nodes.items()}
    return replace(project, nodes=nodes)


def table_of(node: Node, dialect: str) -> Table:
    """The table as SQL refers to it: the relation's name under the dialect's rules of case."""
    return next(iter(Catalog.from_columns({node.relation: ()}, dialect).tables))


def _fold_node(node: Node, dialect: str) -> Node:
    (names,) = Catalog.from_columns({"t": [column.name for column in node.columns]}, dialect).tables.values()
    columns = [replace(column, name=name) for column, name in zip(node.columns, names, strict=True)]
    return replace(node, columns=tuple(columns))


def _quote(name: str, quote: str) -> str:
    return f"{quote}{name.replace(quote, quote * 2)}{quote}" if quote else name
