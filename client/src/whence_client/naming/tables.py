"""Names of tables and topics.

>>> dataset = name_table("postgresql", ("shop", "public", "orders"), host="db")
>>> dataset.namespace, dataset.name
('postgres://db:5432', 'shop.public.orders')
>>> name_table_of_url("mysql+pymysql://root:pw@db/shop", "orders").name
'shop.orders'
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from whence_client.events.datasets import Dataset
from whence_client.naming.files import name_file

_SYSTEMS = {
    "cockroachdb": "postgres",
    "crate": "crate",
    "db2+ibm_db": "db2",
    "ibm_db_sa": "db2",
    "mariadb": "mysql",
    "postgresql": "postgres",
    "sqlserver": "mssql",
    "awsathena": "athena",
    "presto": "trino",
}
_PORTS = {
    "cassandra": 9042,
    "clickhouse": 8123,
    "crate": 4200,
    "db2": 50000,
    "hive": 10000,
    "kafka": 9092,
    "mongodb": 27017,
    "mssql": 1433,
    "mysql": 3306,
    "oceanbase": 2881,
    "oracle": 1521,
    "postgres": 5432,
    "redshift": 5439,
    "teradata": 1025,
    "trino": 8080,
}
_FILES = ("duckdb", "sqlite")
_TWO_PARTS = ("cassandra", "clickhouse", "hive", "mongodb", "mysql", "oceanbase", "teradata")
"""Systems without schemas inside of a database."""
_SCHEMAS = {"postgres": "public", "redshift": "public", "mssql": "dbo", "duckdb": "main"}
"""The schema of a bare table name."""


def name_table(
    system: str,
    parts: Sequence[str],
    *,
    host: str = "",
    port: int | None = None,
    account: str = "",
    region: str = "",
    path: str = "",
) -> Dataset:
    """The dataset of a table. `parts`: database, schema, table, as many as the system has, empty ones left out.

    `account` is Snowflake's (`org-account`) or AWS's, `region` is AWS's, `path` the file of DuckDB or SQLite
    (`:memory:` too).
    """
    system = _SYSTEMS.get(system.lower(), system.lower())
    name = ".".join(part for part in parts if part)
    if system == "glue":
        return Dataset(f"arn:aws:glue:{region}:{account}", "/".join(("table", *parts)))
    if system == "azurecosmos":
        return Dataset(f"azurecosmos://{host}/dbs/{parts[0]}", f"colls/{parts[-1]}")
    return Dataset(_namespace(system, host, port, account, region, path), name)


def name_table_of_url(url: str, table: str, *, schema: str = "") -> Dataset:
    """The dataset of a table of the database at a URL, as SQLAlchemy and most drivers write it.

    `table` may be qualified; the missing parts are the URL's database and the system's default schema.
    Credentials are dropped.
    """
    parsed = urlsplit(url)
    system = _SYSTEMS.get(parsed.scheme.partition("+")[0].lower(), parsed.scheme.partition("+")[0].lower())
    path = unquote(parsed.path)
    if system in _FILES:
        return _name_embedded(system, path[1:], table, schema)
    host, port = parsed.hostname or "", parsed.port
    database = tuple(part for part in path.split("/") if part)
    if system == "oracle":
        database = database or tuple(parse_qs(parsed.query).get("service_name", ()))
    if system == "bigquery":
        database = (host, *database)
    catalog, inner, *_ = (*database, "", "")
    if system in _TWO_PARTS:
        return name_table(system, qualify_table(table, (schema or catalog,)), host=host, port=port)
    parts = qualify_table(table, (catalog, schema or inner or _SCHEMAS.get(system, "")))
    region = host.split(".")[1] if host.startswith("athena.") else ""
    return name_table(system, parts, host=host, port=port, account=host, region=region)


def name_topic(bootstrap: str, topic: str) -> Dataset:
    """The dataset of a Kafka topic. The first server of `bootstrap` names the cluster, as in the Spark listener."""
    servers = [one.strip().rpartition("://")[2] for one in bootstrap.split(",") if one.strip()]
    host, _, port = (servers[0] if servers else "localhost").rpartition(":")
    host, port = (host, port) if host else (port, str(_PORTS["kafka"]))
    return Dataset(f"kafka://{host}:{port}", topic)


def _namespace(system: str, host: str, port: int | None, account: str, region: str, path: str) -> str:
    if system in ("bigquery", "pubsub"):
        return system
    if system == "snowflake":
        return f"snowflake://{account.replace('.snowflakecomputing.com', '')}"
    if system == "athena":
        return f"awsathena://athena.{region}.amazonaws.com"
    if system in _FILES:
        return f"{system}://{_file(path)}"
    port = port or _PORTS.get(system)
    host = f"[{host}]" if ":" in host else host or "localhost"
    return f"{system}://{host}:{port}" if port else f"{system}://{host}"


def _name_embedded(system: str, path: str, table: str, schema: str) -> Dataset:
    if system == "sqlite":
        return name_table(system, qualify_table(table, (schema,)), path=path)
    catalog = os.path.splitext(os.path.basename(path))[0] if path and path != ":memory:" else "memory"
    return name_table(system, qualify_table(table, (catalog, schema or "main")), path=path)


def _file(path: str) -> str:
    return ":memory:" if path in ("", ":memory:") else name_file(path).name


def qualify_table(table: str, defaults: Sequence[str]) -> tuple[str, ...]:
    """The parts of a name, with those that are missing of `defaults` before them."""
    parts = tuple(table.split("."))
    missing = max(0, len(defaults) + 1 - len(parts))
    return (*defaults[:missing], *parts)
