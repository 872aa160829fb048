"""Sources of table columns for a command: a file, dbt's directory, a database's URL, or Whence's own store."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from whence.capture.schemas import catalog_from, read_schema_file
from whence.capture.sql import Catalog
from whence.cli.output.streams import print_lines, safe

OWN = "whence"
"""Selects the columns in Whence's own store, instead of a file or a URL."""

_SHOWN = 3


def columns_from(given: str | None, dialect: str, store: str, namespace: str | None) -> Catalog:
    """The catalog that `given` names; empty if it is None. `store` is the URL of Whence's own store.

    Raises SchemaError, ArtifactError, StoreError, DialectError.
    """
    if given is None:
        return Catalog.from_columns({}, dialect)
    if given == OWN:
        return _of_store(store, dialect, namespace)
    if "://" in given:
        from whence.capture.schemas.database import read_database  # SQLAlchemy is in `whence-lineage[server]` only

        return read_database(given, dialect)
    return read_schema_file(Path(given), dialect)


def _of_store(url: str, dialect: str, namespace: str | None) -> Catalog:
    from whence.query.lookup.table_schemas import known_tables  # the store is in `whence-lineage[server]` only
    from whence.store.snapshots.catalog import StoreCatalog
    from whence.store.snapshots.graph import open_graph

    with open_graph(url) as graph:
        known = known_tables(StoreCatalog(graph.connection), graph, namespace)
    if known.unclear:
        names = ", ".join(map(safe, known.unclear[:_SHOWN]))
        more = f" and {len(known.unclear) - _SHOWN:,} more" if len(known.unclear) > _SHOWN else ""
        notice = (
            f"left out, as several datasets with other columns are called so: {names}{more}; say which with --namespace"
        )
        print_lines([Text(notice, "yellow")], Console(stderr=True, highlight=False))
    return catalog_from(((one.parts, one.columns) for one in known.tables), dialect)
