"""Connections of Tableau: which database or file the tables of a data source are in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from whence.capture.bi.connections import Connection, connect, connection_at, dialect_name
from whence.errors import ArtifactError
from whence.model.names import DatasetName
from whence_client.naming import name_file, name_table

_SYSTEMS = {
    "amazon_athena": "athena",
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "hive": "hive",
    "mysql": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "presto": "trino",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "spark": "spark",
    "sparksql": "spark",
    "sqlserver": "mssql",
    "teradata": "teradata",
    "trino": "trino",
    "vertica": "vertica",
}
_FILES = frozenset(("textscan", "excel-direct", "excel", "ogrdirect", "semistructpassivestore-direct"))
_SCHEMAS = {"postgres": "public", "redshift": "public", "mssql": "dbo"}
PUBLISHED = "sqlproxy"


@dataclass(frozen=True, slots=True)
class Database:
    """Where relations are: a connection, or a file."""

    connection: Connection | None = None
    file: DatasetName | None = None


def find_database(element: Element, caption: str, mapped: Mapping[str, Connection]) -> Database:
    """What a `connection` element connects to. `mapped` wins. Raises ArtifactError if it is not known."""
    server, database = element.get("server", ""), element.get("dbname", "")
    for name in (f"{server}/{database}", server, caption):
        if name and name in mapped:
            return Database(connection=mapped[name])
    kind = element.get("class", "")
    if kind in _FILES:
        return Database(file=_file(element))
    if kind == "genericjdbc" and (url := element.get("jdbcurl") or element.get("dburl") or ""):
        return Database(connection=_of_url(url.removeprefix("jdbc:"), element))
    if kind not in _SYSTEMS:
        named = f"the connection {caption or server or kind} of the class {kind} is not known"
        raise ArtifactError("", f"{named}: name it in the file of the option connections")
    return Database(connection=_connect(_SYSTEMS[kind], element))


def _connect(system: str, element: Element) -> Connection:
    server, database, schema = element.get("server", ""), element.get("dbname", ""), element.get("schema", "")
    port = element.get("port", "")
    named = name_table(
        system,
        ("t",),
        host=server,
        port=int(port) if port.isdigit() else None,
        account=server,
        region=server.split(".")[1] if server.startswith("athena.") else "",
    )
    if system == "bigquery":
        database = element.get("CATALOG") or element.get("project") or database
    if system == "oracle":
        database = element.get("service") or database
    defaults: tuple[str, ...] = (database, schema or _SCHEMAS.get(system, ""))
    if system in ("mysql", "clickhouse", "hive", "teradata"):
        defaults = (schema or database,)
    return connect(dialect_name(system), named.namespace, defaults)


def _of_url(url: str, element: Element) -> Connection:
    scheme, _, rest = url.partition(":")
    try:
        return connection_at(url if "://" in url else f"{scheme}:///{rest}", element.get("schema", ""))
    except ValueError as error:
        raise ArtifactError("", f"the JDBC connection is {error}") from None


def _file(element: Element) -> DatasetName:
    directory, name = element.get("directory", ""), element.get("filename", "")
    path = name if not directory or name.startswith("/") else str(PurePosixPath(directory) / name)
    if not path.startswith("/") and ":" not in path[:3]:
        raise ArtifactError("", f"the file {path or 'without a name'} is packed in the workbook or relative to it")
    return DatasetName(*name_file(path).key)
