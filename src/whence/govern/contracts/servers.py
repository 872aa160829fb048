"""The datasets of a contract's tables: the standard names servers, Whence names datasets as OpenLineage does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whence.model.names import DatasetName, parse_node
from whence_client.naming.files import name_file
from whence_client.naming.tables import name_table, name_table_of_url, name_topic

DATASET = "whenceDataset"
"""The custom property of a table with the node id of its dataset, or several."""
_LOCATIONS = ("s3", "azure", "gcs", "local", "sftp")
_TABLE = "{model}"
_VARIABLE = "${"
"""How 3.2.0 writes what each environment has of its own; it names no dataset."""


def name_datasets(
    table: Mapping[str, Any],
    servers: Sequence[Mapping[str, Any]],
    custom: Mapping[str, Any],
    namespace: str,
    environment: str,
) -> tuple[DatasetName, ...]:
    """The datasets of a table, one a server; those of its custom property `whenceDataset`, if it has one.

    `namespace`: that of a table without a server that can be named; empty: it has no dataset then.
    """
    name = table.get("physicalName") or table["name"]
    if DATASET in custom:
        return tuple(_listed(custom[DATASET]))
    chosen = [one for one in servers if not environment or one.get("environment") == environment]
    found = [one for server in chosen if (one := _name(server, name)) is not None]
    if not found and namespace:
        return (DatasetName(namespace, name),)
    return tuple(dict.fromkeys(found))


def _listed(value: Any) -> Iterator[DatasetName]:
    for one in value if isinstance(value, list) else [value]:
        node = parse_node(str(one))
        if isinstance(node, DatasetName):
            yield node


def _name(server: Mapping[str, Any], table: str) -> DatasetName | None:
    """The dataset of a table at a server; None if the server's kind is unknown, or has no dataset of its own."""
    kind = str(server.get("type", "")).casefold()
    parts = _parts(server, table)
    host, port = str(server.get("host") or ""), server.get("port")
    match kind:
        case "postgres" | "postgresql" | "redshift" | "sqlserver" | "oracle" | "trino" | "presto" | "db2":
            found = name_table(kind, parts, host=host, port=port if isinstance(port, int) else None)
        case "mysql" | "hive" | "clickhouse":
            found = name_table(
                kind, [part for part in parts if part][-2:], host=host, port=port if isinstance(port, int) else None
            )
        case "snowflake":
            found = name_table(kind, parts, account=str(server.get("account") or ""))
        case "bigquery":
            found = name_table(kind, (server.get("project", ""), server.get("dataset", ""), table))
        case "duckdb":
            url = f"duckdb:///{server.get('database') or ''}"
            found = name_table_of_url(url, table, schema=str(server.get("schema") or ""))
        case "kafka":
            found = name_topic(host, table)
        case _ if kind in _LOCATIONS:
            location = str(server.get("location") or server.get("path") or "")
            if not location:
                return None
            found = name_file(location.replace(_TABLE, table))
        case _:
            return None
    is_template = _VARIABLE in found.namespace or _VARIABLE in found.name
    return None if is_template or not found.name else DatasetName(found.namespace, found.name)


def _parts(server: Mapping[str, Any], table: str) -> tuple[str, ...]:
    """Database, schema and table. A table that is written with its schema, or with both, keeps them."""
    written = tuple(table.split("."))
    outer = [str(server.get(one) or "") for one in ("database", "schema")]
    outer[0] = outer[0] or str(server.get("catalog") or server.get("serviceName") or "")
    missing = max(0, 3 - len(written))
    return (*outer[:missing], *written)
