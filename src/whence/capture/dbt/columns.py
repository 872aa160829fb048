"""How columns are spelt: as the warehouse has them (catalog), else as its dialect folds what the project writes.

SQL is read with folded names, for DuckDB and others take `orderId` and `orderid` for one column. In events a column has
the name that the warehouse shows, so that lineage and schema speak of the same one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from whence.capture.dbt.project import Node, Project
from whence.capture.sql import RESULT, Catalog, Column, Edge, Table

_QUOTES = {"postgres": '"', "snowflake": '"', "oracle": '"'}
"""Where a quoted name is another than the same name without quotes."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """What tables call their columns, by the table and the column's name in lower case."""

    names: Mapping[Table, Mapping[str, str]]

    def edges(self, edges: Iterable[Edge], result: Table | None) -> tuple[Edge, ...]:
        """The edges with columns as their tables call them. `result`: the table that the result of a SELECT becomes."""
        return tuple(
            replace(one, source=self._end(one.source), target=self._result(one.target, result)) for one in edges
        )

    def _result(self, end: Column | Table, result: Table | None) -> Column | Table:
        if not isinstance(end, Column) or end.table != RESULT or result is None:
            return self._end(end)
        return Column(RESULT, self._called(result, end.name))

    def _end(self, end: Column | Table) -> Column | Table:
        return Column(end.table, self._called(end.table, end.name)) if isinstance(end, Column) else end

    def _called(self, table: Table, name: str) -> str:
        known = self.names.get(table)
        return known.get(name, known.get(name.lower(), name)) if known else name


def catalog_of(project: Project, dialect: str) -> Catalog:
    """The columns of all tables of a project, for reading SQL with."""
    quote = _QUOTES.get(dialect, "")
    known = {
        node.relation: [_quoted(column.name, quote if node.in_catalog else "") for column in node.columns]
        for node in project.nodes.values()
        if node.relation and node.columns
    }
    return Catalog.from_columns(known, dialect)


def spelling_of(project: Project, dialect: str) -> Spelling:
    """What the tables of a project call their columns."""
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


def folded(project: Project, dialect: str) -> Project:
    """The project with the columns that only its own files name as the dialect folds them."""
    nodes = {name: node if node.in_catalog else _folded(node, dialect) for name, node in project.nodes.items()}
    return replace(project, nodes=nodes)


def table_of(node: Node, dialect: str) -> Table:
    """The table as SQL reaches it: the relation's name under the dialect's rules of case."""
    return next(iter(Catalog.from_columns({node.relation: ()}, dialect).tables))


def _folded(node: Node, dialect: str) -> Node:
    (names,) = Catalog.from_columns({"t": [column.name for column in node.columns]}, dialect).tables.values()
    columns = [replace(column, name=name) for column, name in zip(node.columns, names, strict=True)]
    return replace(node, columns=tuple(columns))


def _quoted(name: str, quote: str) -> str:
    return f"{quote}{name.replace(quote, quote * 2)}{quote}" if quote else name
