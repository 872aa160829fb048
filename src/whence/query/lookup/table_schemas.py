"""Tables of the graph with their current columns, for the SQL reader (sql.md, "Schemas")."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from whence.model.catalog import Entry, EntryFilter, Window, entry_sort_key
from whence.model.ids import Kind
from whence.model.names import DatasetName
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph

PAGE = 1_000
"""Datasets in one query."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The parts of a table's name, and its columns in order. For a table at a path, the complete path is
    its one part.
    """

    parts: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownTables:
    """The tables; and `unclear`: names of several datasets with different columns, which are left out."""

    tables: tuple[KnownTable, ...]
    unclear: tuple[str, ...]


def known_tables(catalog: Catalog, graph: Graph, namespace: str | None = None) -> KnownTables:
    """All datasets (of one namespace) whose schema is reported; lineage alone may lack columns."""
    own, others = list[KnownTable](), list[KnownTable]()
    for name, group, columns in _declared_columns(catalog, graph, namespace):
        first, *rest = (KnownTable(parts, columns) for parts in _names(name, group))
        own.append(first)
        others += rest
    found, unclear = _distinct(own)
    also, unclear_too = _distinct(one for one in others if one.parts not in found)
    known = tuple(found[parts] for parts in found if parts not in unclear)
    added = tuple(also[parts] for parts in also if parts not in unclear_too)
    return KnownTables((*known, *added), tuple(sorted(".".join(parts) for parts in unclear | unclear_too)))


def _distinct(tables: Iterable[KnownTable]) -> tuple[dict[tuple[str, ...], KnownTable], set[tuple[str, ...]]]:
    """The tables by name, and the names of tables with different columns."""
    found: dict[tuple[str, ...], KnownTable] = {}
    unclear = {one.parts for one in tables if found.setdefault(one.parts, one) != one}
    return found, unclear


def _declared_columns(
    catalog: Catalog, graph: Graph, namespace: str | None
) -> Iterator[tuple[DatasetName, Sequence[DatasetName], tuple[str, ...]]]:
    """Each dataset with its alias group and its current schema; datasets without a schema are left out."""
    for page in _pages(catalog, namespace):
        ids = [one.id for one in page]
        facets, groups = catalog.facets(ids, ("schema",)), graph.groups(ids)
        for one in page:
            columns = _columns(facets[one.id]["schema"].payload) if "schema" in facets.get(one.id, {}) else ()
            if columns and isinstance(one.name, DatasetName):
                yield one.name, groups.get(one.id, ()), columns


def _pages(catalog: Catalog, namespace: str | None) -> Iterator[Sequence[Entry]]:
    after: tuple[str | int, ...] | None = None
    while page := catalog.listed(Kind.DATASET, EntryFilter(namespace=namespace), Window(limit=PAGE, after=after)):
        yield page
        after = entry_sort_key(page[-1])


def _names(name: DatasetName, group: Sequence[DatasetName]) -> Iterator[tuple[str, ...]]:
    """The name and its aliases, without those whose end equals that of an earlier one: it would match two tables."""
    ends = set[str]()
    for one in (name, *group):
        parts = _parts(one)
        if parts[-1] not in ends:
            ends.add(parts[-1])
            yield parts


def _parts(name: DatasetName) -> tuple[str, ...]:
    """The parts as in SQL: a file by its complete address, a table by the parts of its name."""
    if "/" not in name.name:
        return tuple(name.name.split("."))
    if name.namespace == "file":
        return (name.name,)
    return (f"{name.namespace}/{name.name.lstrip('/')}",) if "://" in name.namespace else (name.name,)


def _columns(payload: str) -> tuple[str, ...]:
    """The columns of a schema facet, without the fields inside of them."""
    facet = msgspec.json.decode(payload) if payload else {}
    fields = facet.get("fields") if isinstance(facet, dict) else None
    names = [one.get("name") for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
    return tuple(one for one in names if isinstance(one, str) and one)
