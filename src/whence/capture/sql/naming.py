"""Which dataset a table of SQL text is (OpenLineage's naming rules: a namespace for the database, a dotted name)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from whence.capture.sql.lineage import RESULT, Table
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """Names the tables of one database.

    >>> Naming(namespace="postgres://db:5432", defaults=("shop", "public")).dataset(Table(("orders",)))
    DatasetName(namespace='postgres://db:5432', name='shop.public.orders')
    >>> Naming(namespace="snowflake://x").dataset(Table(("s3://lake/raw/a.csv",)))
    DatasetName(namespace='s3://lake', name='raw/a.csv')
    """

    namespace: str
    defaults: tuple[str, ...] = ()
    """The parts that come before a bare table name: database and schema, empty where they are not known."""
    own: Mapping[Table, DatasetName | None] = field(default_factory=dict)
    """Tables that are called otherwise, and those that are no datasets (None)."""
    hidden: frozenset[str] = frozenset()
    """Schemas of the engine itself, whose tables are no datasets."""

    def dataset(self, table: Table) -> DatasetName | None:
        """The dataset that a table is, or None if it is none, as the result of a SELECT."""
        if table in self.own:
            return self.own[table]
        if table == RESULT or not self.hidden.isdisjoint(part.lower() for part in table.parts[:-1]):
            return None
        return location(table.parts[-1]) or DatasetName(self.namespace, ".".join(self._whole(table.parts)))

    def _whole(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        missing = max(0, len(self.defaults) + 1 - len(parts))
        return (*filter(None, self.defaults[:missing]), *parts)


def location(text: str) -> DatasetName | None:
    """The dataset at a URI or an absolute path, or None if the text is neither."""
    if text.startswith("/"):
        return DatasetName("file", text)
    scheme, separator, _ = text.partition("://")
    if not separator or not scheme.isalnum():
        return None
    at = urlsplit(text)
    return DatasetName(f"{scheme}://{at.netloc}" if at.netloc else scheme, at.path.lstrip("/") or "/")
