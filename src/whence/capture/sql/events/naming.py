"""The dataset of an SQL table (OpenLineage's naming rules: a namespace for the database, a dotted name)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from whence.capture.sql.lineage import RESULT, Table
from whence.model.names import DatasetName
from whence_client.naming import name_file

_URI: Final = re.compile("[A-Za-z][A-Za-z0-9]*://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Dataset names for the tables of one database.

    >>> Naming(namespace="postgres://db:5432", defaults=("shop", "public")).dataset(Table(("orders",)))
    DatasetName(namespace='postgres://db:5432', name='shop.public.orders')
    >>> Naming(namespace="snowflake://x").dataset(Table(("s3://lake/raw/a.csv",)))
    DatasetName(namespace='s3://lake', name='raw/a.csv')
    """

    namespace: str
    defaults: tuple[str, ...] = ()
    """The prefix of a bare table name: database and schema, empty where unknown."""
    own: Mapping[Table, DatasetName | None] = field(default_factory=dict)
    """Tables with other dataset names, and tables that are no datasets (None)."""
    hidden: frozenset[str] = frozenset()
    """The engine's own schemas, whose tables are no datasets."""

    def dataset(self, table: Table) -> DatasetName | None:
        """The dataset of a table, or None if it is none, like the result of a SELECT."""
        if table in self.own:
            return self.own[table]
        if table == RESULT or not self.hidden.isdisjoint(map(str.lower, _schemas(table))):
            return None
        return location(table.parts[-1]) or DatasetName(self.namespace, ".".join(self._with_defaults(table.parts)))

    def _with_defaults(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        missing = max(0, len(self.defaults) + 1 - len(parts))
        return (*filter(None, self.defaults[:missing]), *parts)


def _schemas(table: Table) -> tuple[str, ...]:
    """The parts before a table's name. BigQuery spells one of its own as one part, `INFORMATION_SCHEMA.TABLES`."""
    return (*table.parts[:-1], *table.parts[-1].split(".")[:-1])


def location(text: str) -> DatasetName | None:
    """The dataset at a URI or an absolute path, or None for other texts.

    The rules are those of the captures in users' processes, so that both name one file alike.
    """
    if not (text.startswith(("/", "file:/", "dbfs:/")) or _URI.match(text)):
        return None
    # Seen in DuckDB: an engine opens the path as it is written.
    return DatasetName(*name_file(text, folder="/", encoded=False).key)
