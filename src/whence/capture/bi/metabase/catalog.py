"""What a Metabase knows of its databases: tables and fields by id, and where each database is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.capture.bi.connections import Connection, connect, connection_at, dialect_name
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json
from whence_client.naming import name_table

_SYSTEMS = {"bigquery-cloud-sdk": "bigquery", "sqlserver": "mssql", "presto-jdbc": "trino", "sparksql": "spark"}
_SCHEMAS = {"postgres": "public", "redshift": "public", "mssql": "dbo"}
_FILES = frozenset(("duckdb", "sqlite"))


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its name and table, and the field that it points to as a foreign key."""

    name: str
    table: int
    target: int | None = None


@dataclass(frozen=True, slots=True)
class MetabaseTable:
    """A table: its schema, its name and its fields by id."""

    schema: str
    name: str
    fields: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MetabaseCatalog:
    """The tables and fields of all databases."""

    tables: Mapping[int, MetabaseTable]
    fields: Mapping[int, Field]

    def field(self, key: int) -> Field:
        """A field. Raises ArtifactError if the user may not see it."""
        if key not in self.fields:
            raise ArtifactError("", f"the field {key} is not there, or the user may not see it")
        return self.fields[key]

    def table(self, key: int) -> MetabaseTable:
        """A table. Raises ArtifactError if the user may not see it."""
        if key not in self.tables:
            raise ArtifactError("", f"the table {key} is not there, or the user may not see it")
        return self.tables[key]


def read_catalog(databases: Iterable[Json]) -> MetabaseCatalog:
    """The catalog in answers of `database/{id}/metadata`."""
    tables, fields = dict[int, MetabaseTable](), dict[int, Field]()
    for database in databases:
        for table in database.get("tables") or ():
            listed = [one for one in table.get("fields") or () if one.get("active", True)]
            key = int(table["id"])
            fields.update(
                {int(one["id"]): Field(str(one["name"]), key, one.get("fk_target_field_id")) for one in listed}
            )
            names = tuple(int(one["id"]) for one in listed)
            tables[key] = MetabaseTable(str(table.get("schema") or ""), str(table["name"]), names)
    return MetabaseCatalog(tables, fields)


def locate(database: Json, mapped: Mapping[str, Connection]) -> Connection:
    """Where a database is. Raises ArtifactError if neither the file of connections nor its details say it."""
    name, details = str(database.get("name") or ""), database.get("details") or {}
    if name in mapped:
        return mapped[name]
    engine = str(database.get("engine") or "")
    system = _SYSTEMS.get(engine, engine)
    if system in _FILES:
        path = str(details.get("database_file") or details.get("db") or "")
        if path:
            return connection_at(f"{system}:///{path}")
    host, catalog = str(details.get("host") or ""), str(details.get("dbname") or details.get("db") or "")
    account, project = str(details.get("account") or ""), str(details.get("project-id") or "")
    if not (host or account or project):
        raise ArtifactError(
            "",
            f"where the database {name or database.get('id')} is, is not known: ask as an administrator, or name it in "
            "the file of the option connections",
        )
    port = details.get("port")
    named = name_table(system, ("t",), host=host, port=int(port) if port else None, account=account)
    rules = dialect_name(system)
    defaults = (project or catalog, str(details.get("schema") or _SCHEMAS.get(system, "")))
    two_parts = system in ("mysql", "clickhouse", "hive", "mongo")
    return connect(rules, named.namespace, (catalog,) if two_parts else defaults)
