"""Data sources: their fields, as SQL over their tables, or as fields of a published data source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from whence.capture.bi.connections import Connection, connect
from whence.capture.bi.queries import Query, read_query
from whence.capture.bi.reports import Lineage
from whence.capture.bi.tableau.databases import PUBLISHED, Database, find_database
from whence.capture.bi.tableau.formulas import formula_sql, references
from whence.capture.bi.tableau.objects import ObjectGraph, read_graph
from whence.capture.bi.tableau.relations import Relations, split_name
from whence.capture.sql import Table
from whence.errors import ArtifactError
from whence.model.names import DatasetName

_DEEPEST = 60
_NO_DATABASE = connect("postgres", "tableau", ())
_EXTRACTS = frozenset(("dataengine", "hyper"))


@dataclass(slots=True)
class DataSource:
    """One data source. `columns` are its columns by name (`[amount]`), `remote` the table and column of each.

    `published` is the data source on the server that it stands for. `used` collects the tables that expressions need.
    """

    name: str
    caption: str
    columns: Mapping[str, Element]
    groups: Mapping[str, Element]
    remote: Mapping[str, tuple[str, str]]
    relation: Element | None
    graph: ObjectGraph | None
    relations: Relations
    published: DatasetName | None = None
    used: set[str] = field(default_factory=set)

    def caption_of(self, name: str) -> str:
        """What people see of a column."""
        element = self.columns.get(name)
        return (element.get("caption") if element is not None else None) or split_name(name)[0]

    def expression(self, name: str, passed: tuple[str, ...] = ()) -> str:
        """The SQL of a column. Raises ArtifactError if it cannot be known."""
        if name in passed or len(passed) > _DEEPEST:
            raise ArtifactError(name, f"{self.caption_of(name)} is made of itself")
        name = self._by_caption(name)
        element, inner = self.columns.get(name), (*passed, name)
        calculation = element.find("calculation") if element is not None else None
        if calculation is not None:
            return f"({self._calculation(calculation, inner)}\n)"
        if name in self.groups and name not in self.remote:
            return f"({self._group(self.groups[name], inner)})"
        return self._remote(name)

    def read(self, query: Query, target: DatasetName) -> Lineage:
        """The lineage of a query over this data source. Raises ArtifactError if its tables are not known."""
        source = self._clause()
        naming = replace(self.relations.connection.naming, own=self.relations.own)
        return read_query(replace(query, source=source), replace(self.relations.connection, naming=naming), target)

    def _calculation(self, calculation: Element, passed: tuple[str, ...]) -> str:
        formula, grouped = calculation.get("formula"), calculation.get("column")
        if grouped:
            return f"T_GROUP({self.expression(grouped, passed)})"
        if formula is None:
            raise ArtifactError(passed[-1], f"{self.caption_of(passed[-1])} has a calculation without a formula")
        return formula_sql(formula, lambda one: self._reference(one, passed))

    def _reference(self, reference: str, passed: tuple[str, ...]) -> str:
        if "].[" not in reference:
            return self.expression(reference, passed)
        source = split_name(reference)[0]
        if source == "Parameters":
            return "NULL"  # a value that a user enters
        if source in (self.name, self.caption):
            return self.expression(reference.partition("].")[2], passed)
        raise ArtifactError(reference, f"{self.caption_of(passed[-1])} blends with another data source: {reference}")

    def _group(self, group: Element, passed: tuple[str, ...]) -> str:
        levels = [one.get("level", "") for one in group.iter("groupfilter")]
        names = dict.fromkeys(self.instance_column(one) for one in levels if one.startswith("["))
        if not names:
            raise ArtifactError(passed[-1], f"the set {split_name(passed[-1])[0]} has no column")
        return f"T_SET({', '.join(self.expression(one, passed) for one in names)})"

    def instance_column(self, name: str) -> str:
        """The column of an instance: `[sum:amount:qk]` is of `[amount]`."""
        parts = split_name(name)[0].split(":")
        return f"[{':'.join(parts[1:-1])}]" if len(parts) > 2 else name

    def _remote(self, name: str) -> str:
        if self.published is not None:
            return self.relations.quote(self.caption_of(name))
        if name in self.remote:
            table, column = self.remote[name]
            self.used.add(table)
            return f"{self.relations.quote(table)}.{self.relations.quote(column)}"
        only = self.relation.get("name") if self.relation is not None else None
        if only and self.relation is not None and self.relation.get("type") in ("table", "text") and not self.remote:
            return f"{self.relations.quote(only)}.{self.relations.quote(split_name(name)[0])}"
        raise ArtifactError(name, f"{self.caption_of(name)} is no column of the data source {self.caption}")

    def _by_caption(self, name: str) -> str:
        if name in self.columns or name in self.remote or name in self.groups:
            return name
        wanted = split_name(name)[0]
        found = [key for key, one in self.columns.items() if one.get("caption") == wanted]
        return found[0] if len(found) == 1 else name

    def _clause(self) -> str:
        if self.published is not None:
            self.relations.own[Table(("published",))] = self.published
            return self.relations.quote("published")
        if self.graph is not None:
            return self.graph.clause(self.relations, self.used, self._joined)
        if self.relation is None:
            raise ArtifactError(self.name, f"the data source {self.caption} has no tables")
        return self.relations.clause(self.relation)

    def _joined(self, name: str) -> str:
        return self.relations.column(name) if "].[" in name else self._remote(name)


def open_source(element: Element, mapped: Mapping[str, Connection], server: str) -> DataSource:
    """A `datasource` element. Raises ArtifactError if its connection is not known."""
    connection = element.find("connection")
    if connection is None:
        raise ArtifactError("", f"the data source {_caption(element)} has no connection")
    published = published_name(element, connection, server) if connection.get("class") == PUBLISHED else None
    databases = {} if published else _databases(connection, _caption(element), mapped)
    connections = {id(one.connection): one.connection for one in databases.values() if one.connection}
    chosen = next(iter(connections.values())) if len(connections) == 1 else _NO_DATABASE
    return DataSource(
        name=element.get("name") or element.get("formatted-name") or "",
        caption=_caption(element),
        columns={one.get("name", ""): one for one in element.findall("column")},
        groups={one.get("name", ""): one for one in element.findall("group")},
        remote=_remote_columns(connection),
        relation=_physical(connection),
        graph=read_graph(element),
        relations=Relations(databases, chosen, {}),
        published=published,
    )


def published_name(element: Element, connection: Element | None, server: str) -> DatasetName:
    """The name of a data source on a server, by its own file or by one that connects to it."""
    location = element.find("repository-location")
    known = location if location is not None else Element("none")
    host = server or f"tableau://{(connection.get('server', '') if connection is not None else '').lower()}"
    key = known.get("id") or (connection.get("dbname") if connection is not None else None) or _caption(element)
    site = known.get("site") or ""
    return DatasetName(host, "/".join((*([site] if site else []), "datasources", key)))


def source_fields(source: DataSource) -> tuple[str, ...]:
    """All columns of a data source that people see."""
    hidden = {name for name, one in source.columns.items() if one.get("hidden") == "true"}
    return tuple(one for one in dict.fromkeys((*source.remote, *source.columns)) if one not in hidden)


def _databases(connection: Element, caption: str, mapped: Mapping[str, Connection]) -> dict[str, Database]:
    named = connection.findall("named-connections/named-connection")
    pairs = [(one.get("name", ""), one.get("caption", ""), one.find("connection")) for one in named]
    pairs = pairs or [(connection.get("name", ""), caption, connection)]
    found: dict[str, Database] = {}
    for name, text, element in pairs:
        if element is not None and element.get("class") not in _EXTRACTS:
            found[name] = find_database(element, text, mapped)
    if not found:
        raise ArtifactError("", f"the data source {caption} is an extract that does not say what it was made from")
    return found


def _physical(connection: Element) -> Element | None:
    found = connection.findall("relation")
    return next((one for one in found if one.get("type") != "collection"), None)


def _remote_columns(connection: Element) -> dict[str, tuple[str, str]]:
    """The table and column of each column, by the map of the columns, or else by the records of the database."""
    found: dict[str, tuple[str, str]] = {}
    for record in connection.findall("metadata-records/metadata-record"):
        local, parent, remote = (record.findtext(key) or "" for key in ("local-name", "parent-name", "remote-name"))
        if record.get("class") == "column" and local and parent:
            found[local] = (split_name(parent)[0], remote)
    for one in connection.findall("cols/map"):
        parts = split_name(one.get("value", ""))
        if len(parts) == 2:
            found[one.get("key", "")] = (parts[0], parts[1])
    return found


def _caption(element: Element) -> str:
    return element.get("caption") or element.get("formatted-name") or element.get("name") or "without a name"


def referenced(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The data source and instance of each reference in shelves."""
    found = [split_name(one) for text in texts for one in references(text)]
    return list(dict.fromkeys((parts[0], f"[{parts[1].replace(']', ']]')}]") for parts in found if len(parts) == 2))
