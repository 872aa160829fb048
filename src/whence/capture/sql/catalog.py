"""Which columns a table has: what the caller knows, and what a script says of it as it goes on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from whence.capture.sql.confidence import DDL, SCHEMA
from whence.capture.sql.dialects import dialect_of
from whence.capture.sql.lineage import Table
from whence.capture.sql.names import column_of, parts_of


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tables with their columns in order. `defaults`: the name parts to put before a name, first match wins."""

    tables: Mapping[Table, tuple[str, ...]]
    defaults: tuple[tuple[str, ...], ...] = ()
    _ends: Mapping[tuple[str, ...], Table | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[str]], dialect: str, defaults: Sequence[str] = ()) -> Self:
        """From dotted names, quoted as the dialect quotes: `{"db.schema.t": ("a", "b")}`. Raises DialectError.

        `defaults` are dotted too: the database, schema or search path of the session.
        """
        rules = dialect_of(dialect)
        tables = {
            Table(parts_of(rules, name)): tuple(column_of(rules, column) for column in listed)
            for name, listed in columns.items()
        }
        return cls(tables, tuple(parts_of(rules, path) for path in defaults), _endings(tables))

    def completed(self, other: "Catalog") -> "Catalog":
        """With the tables of another that this one does not know, under whatever end of their name."""
        known = {table.parts[-1].lower() for table in self.tables}
        added = {
            table: columns
            for table, columns in other.tables.items()
            if table.parts[-1].lower() not in known or self.find(table) is None
        }
        tables = {**self.tables, **added}
        return Catalog(tables, self.defaults or other.defaults, _endings(tables))

    def find(self, table: Table) -> tuple[str, ...] | None:
        """The columns of a table: under this name, or under the only name that ends with it or that it ends with."""
        exact = self.tables.get(table)
        if exact is not None:
            return exact
        longer = self._ends.get(table.parts)
        if longer is not None:
            return self.tables[longer]
        for skipped in range(1, len(table.parts)):
            shorter = self.tables.get(Table(table.parts[skipped:]))
            if shorter is not None:
                return shorter
        other = self._ends.get(tuple(part.lower() for part in table.parts))
        return self.tables[other] if other is not None else None


def _endings(tables: Iterable[Table]) -> dict[tuple[str, ...], Table | None]:
    """Every end of a name, with the table that it means; None if it fits several."""
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
"""Schemas in which a session's temporary tables are."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a script has said of a table. `columns` is None where it did not say which."""

    columns: tuple[str, ...] | None
    temporary: bool = False
    dropped: bool = False


@dataclass(slots=True)
class Session:
    """Where names lead to at one point of a script: temporary tables and its own DDL before the given catalog."""

    catalog: Catalog
    paths: list[tuple[str, ...]] = field(default_factory=list)
    """What goes before a name that is not whole: the search path, the innermost part last."""
    signs: tuple[str, ...] = ("#",)
    """What the names of temporary tables begin with."""
    own: dict[Table, Known] = field(default_factory=dict)
    made_in: dict[Table, frozenset[Table]] = field(default_factory=dict)
    """Temporary tables, with their whole names where they were made."""

    def resolve(self, table: Table) -> Table:
        """The whole name of a table, as the session completes it; a temporary one is known by its own name."""
        if len(table.parts) > 1 and (temporary := self._named_whole(table)) is not None:
            return temporary
        if self._temporary(table) or not self.paths:
            return table
        wholes = list(self._wholes(table))
        return next((whole for whole in wholes if whole in self.own or whole in self.catalog.tables), wholes[0])

    def columns(self, table: Table) -> tuple[tuple[str, ...] | None, float, str]:
        """The columns of a table, how sure that is, and why."""
        known = self.own.get(table)
        if known is not None and (known.columns is not None or known.temporary):
            return known.columns, *DDL
        return self.catalog.find(table), *SCHEMA

    def is_temporary(self, table: Table) -> bool:
        return table.parts[-1][:1] in self.signs or self._temporary(table)

    def _named_whole(self, table: Table) -> Table | None:
        """The temporary table that a whole name means: in a schema for temporary tables, or where it was made."""
        own = Table(table.parts[-1:])
        in_schema = table.parts[0].lower() in TEMPORARY_SCHEMAS and self.is_temporary(own)
        return own if in_schema or table in self.made_in.get(own, ()) else None

    def make_temporary(self, table: Table, columns: tuple[str, ...] | None) -> None:
        """Note a temporary table, with the whole names that mean it too."""
        self.made_in[table] = frozenset(self._wholes(table)) - {table}
        self.own[table] = Known(columns, temporary=True)

    def _temporary(self, table: Table) -> bool:
        known = self.own.get(table)
        return known is not None and known.temporary

    def _wholes(self, table: Table) -> Iterator[Table]:
        for path in self.paths:
            missing = path[: max(0, len(path) + 1 - len(table.parts))]
            yield Table((*missing, *table.parts))
