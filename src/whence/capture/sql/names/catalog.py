"""The columns of tables: from the caller's catalog, and from the DDL of the script itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import parse_column_name, parse_name_parts
from whence.capture.sql.provenance.confidence import DDL, SCHEMA


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tables with their columns in order. `defaults`: prefixes to try before a name; the first match wins.

    `reported`: what the engine itself says of the tables of one script, by their whole names; it comes first.
    """

    tables: Mapping[Table, tuple[str, ...]]
    defaults: tuple[tuple[str, ...], ...] = ()
    reported: Mapping[Table, tuple[str, ...]] = field(default_factory=dict)
    _suffixes: Mapping[tuple[str, ...], Table | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[str]], dialect: str, defaults: Sequence[str] = ()) -> Self:
        """Build a catalog from dotted names, quoted as the dialect quotes: `{"db.schema.t": ("a", "b")}`. Raises
        DialectError.

        `defaults` are dotted too: the database, schema or search path of the session.
        """
        rules = dialect_of(dialect)
        tables = {
            Table(parse_name_parts(rules, name)): tuple(parse_column_name(rules, column) for column in listed)
            for name, listed in columns.items()
        }
        return cls(tables, tuple(parse_name_parts(rules, path) for path in defaults), _suffixes=_index_suffixes(tables))

    def with_missing_tables(self, other: "Catalog") -> "Catalog":
        """Add the tables of another catalog that this one cannot find under any suffix of their name."""
        last_parts = {table.parts[-1].lower() for table in self.tables}
        added = {
            table: columns
            for table, columns in other.tables.items()
            if table.parts[-1].lower() not in last_parts or self.find(table) is None
        }
        tables = {**self.tables, **added}
        return replace(self, tables=tables, defaults=self.defaults or other.defaults, _suffixes=_index_suffixes(tables))

    def find(self, table: Table) -> tuple[str, ...] | None:
        """The columns of a table: under its exact name, or under the only name that extends or shortens it."""
        exact = self.reported.get(table) or self.tables.get(table)
        if exact is not None:
            return exact
        longer = self._suffixes.get(table.parts)
        if longer is not None:
            return self.tables[longer]
        for skipped in range(1, len(table.parts)):
            shorter = self.tables.get(Table(table.parts[skipped:]))
            if shorter is not None:
                return shorter
        folded = self._suffixes.get(tuple(part.lower() for part in table.parts))
        return self.tables[folded] if folded is not None else None


def _index_suffixes(tables: Iterable[Table]) -> dict[tuple[str, ...], Table | None]:
    """Map each suffix of a table name to its table, or to None if several tables share the suffix."""
    ends: dict[tuple[str, ...], Table | None] = {}
    for table in tables:
        for skipped in range(1, len(table.parts)):
            end = table.parts[skipped:]
            ends[end] = None if end in ends else table
    for table in tables:
        folded = tuple(part.lower() for part in table.parts)
        if folded != table.parts and folded not in ends:
            ends[folded] = table
    return ends


TEMPORARY_SCHEMAS = frozenset({"_session", "pg_temp", "temp", "tempdb"})
"""Schemas of a session's temporary tables."""


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table that the script created or changed. `columns` is None if the script does not list them."""

    columns: tuple[str, ...] | None
    temporary: bool = False
    dropped: bool = False


@dataclass(slots=True)
class Session:
    """Name resolution at one point of a script: temporary tables and the script's DDL come before the catalog."""

    catalog: Catalog
    paths: list[tuple[str, ...]] = field(default_factory=list)
    """Prefixes that complete a partial name: the search path, the innermost part last."""
    temporary_prefixes: tuple[str, ...] = ("#",)
    """The first characters of names of temporary tables."""
    declared: dict[Table, DeclaredTable] = field(default_factory=dict)
    qualified_temporary: dict[Table, frozenset[Table]] = field(default_factory=dict)
    """Temporary tables, with the qualified names that were valid where they were created."""

    def resolve(self, table: Table) -> Table:
        """Complete the name of a table. A temporary table keeps its own name."""
        if len(table.parts) > 1 and (temporary := self._find_qualified_temporary(table)) is not None:
            return temporary
        if self._is_declared_temporary(table) or not self.paths:
            return table
        candidates = list(self._qualified_names(table))
        return next(
            (whole for whole in candidates if whole in self.declared or whole in self.catalog.tables), candidates[0]
        )

    def columns(self, table: Table) -> tuple[tuple[str, ...] | None, float, str]:
        """The columns of a table, with their confidence and its reason."""
        known = self.declared.get(table)
        if known is not None and (known.columns is not None or known.temporary):
            return known.columns, *DDL
        return self.catalog.find(table), *SCHEMA

    def is_temporary(self, table: Table) -> bool:
        return table.parts[-1][:1] in self.temporary_prefixes or self._is_declared_temporary(table)

    def _find_qualified_temporary(self, table: Table) -> Table | None:
        """The temporary table of a qualified name: in a schema for temporary tables, or where the table was created."""
        own = Table(table.parts[-1:])
        in_schema = table.parts[0].lower() in TEMPORARY_SCHEMAS and self.is_temporary(own)
        return own if in_schema or table in self.qualified_temporary.get(own, ()) else None

    def make_temporary(self, table: Table, columns: tuple[str, ...] | None) -> None:
        """Declare a temporary table, with the qualified names that also refer to it."""
        self.qualified_temporary[table] = frozenset(self._qualified_names(table)) - {table}
        self.declared[table] = DeclaredTable(columns, temporary=True)

    def _is_declared_temporary(self, table: Table) -> bool:
        known = self.declared.get(table)
        return known is not None and known.temporary

    def _qualified_names(self, table: Table) -> Iterator[Table]:
        for path in self.paths:
            missing = path[: max(0, len(path) + 1 - len(table.parts))]
            yield Table((*missing, *table.parts))
