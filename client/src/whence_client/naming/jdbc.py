"""Names of tables behind JDBC URLs, whose forms differ from driver to driver.

>>> name_table_of_jdbc("jdbc:sqlserver://db;databaseName=shop;password=pw", "orders").name
'shop.dbo.orders'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Callable
from urllib.parse import parse_qsl

from whence_client.naming.tables import name_table, name_table_of_url, qualify_table

if TYPE_CHECKING:
    from whence_client.events.datasets import Dataset

_QUOTES = re.compile(r'["`\[\]]')
_SERVER = re.compile(r"//(?:[^/@;]*@)?(?P<host>\[[^\]]*\]|[^:/;,?\\]*)[^:/;,?]*(?::(?P<port>\d+))?")
_ORACLE = re.compile(r"@(?://)?(?P<host>[^:/@?()]+):(?P<port>\d+)(?P<mark>[:/])(?P<name>[^:/?]+)")
_DESCRIBED = re.compile(r"\(\s*(HOST|PORT|SERVICE_NAME|SID)\s*=\s*([^)\s]+)\s*\)", re.IGNORECASE)


def name_table_of_jdbc(url: str, table: str) -> Dataset | None:
    """The dataset of a table of the database behind a JDBC URL; None if the URL's form is not known, or it names no
    server, as an alias in a file of Oracle's. Its properties, with their passwords, are no part of the name.
    """
    text = url.strip()
    system, _, rest = (text[len("jdbc:") :] if text.startswith("jdbc:") else text).partition(":")
    plain = _QUOTES.sub("", table.strip())
    read = _READERS.get(system.lower())
    if read is not None:
        return read(rest, plain)
    start = rest.find("//")
    if start < 0:
        return _embedded(system.lower(), rest, plain)
    return _server(system, rest[start:], plain)


def _server(system: str, rest: str, table: str) -> Dataset | None:
    """`//host:port,other:port/database?…` or `;…`: the first of several servers names them all."""
    found = _SERVER.match(rest)
    if found is None or not found["host"]:
        return None
    path, _, query = rest.partition(";")[0].partition("?")
    path = path[2:].partition("/")[2]
    port = f":{found['port']}" if found["port"] else ""
    return name_table_of_url(f"{system}://{found['host']}{port}/{path}?{query}", table)


def _embedded(system: str, rest: str, table: str) -> Dataset | None:
    """A database in the job's process, in a file or in memory; or one of PostgreSQL on this machine."""
    place = rest.partition(";")[0].partition("?")[0]
    if system == "postgresql":
        return name_table_of_url(f"{system}://localhost/{place.lstrip('/')}", table)
    if system in ("sqlite", "duckdb"):
        return name_table_of_url(f"{system}:///{place or ':memory:'}", table)
    return name_table(system, (place, table)) if place else None


def _sql_server(rest: str, table: str) -> Dataset | None:
    found, properties = _SERVER.match(rest), _properties(rest)
    host = (found["host"] if found else "") or properties.get("servername", "")
    if not host:
        return None
    port = (found["port"] if found else "") or properties.get("portnumber", properties.get("port", ""))
    path = rest.partition(";")[0][2:].partition("/")[2]
    database = properties.get("databasename", properties.get("database", path))
    parts = qualify_table(table, (database, "dbo"))
    return name_table("mssql", parts, host=host.strip("[]"), port=_number(port))


def _jtds(rest: str, table: str) -> Dataset | None:
    system, _, server = rest.partition(":")
    return _sql_server(server, table) if system == "sqlserver" else _server(system, server, table)


def _oracle(rest: str, table: str) -> Dataset | None:
    """`thin:@//host:port/service`, `thin:@host:port:sid`, or a description in parentheses."""
    found = _ORACLE.search(rest)
    parts = found.groupdict() if found else _described(rest)
    if not parts:
        return None
    return name_table("oracle", (parts["name"], table), host=parts["host"], port=_number(parts["port"]))


def _described(rest: str) -> dict[str, str]:
    found = {name.upper(): value for name, value in reversed(_DESCRIBED.findall(rest))}  # of several hosts the first
    service = found.get("SERVICE_NAME", found.get("SID", ""))
    if "HOST" not in found or not service:
        return {}
    return {"host": found["HOST"], "port": found.get("PORT", "1521"), "name": service}


def _db2(rest: str, table: str) -> Dataset | None:
    """`//host:port/DATABASE:property=value;…`."""
    server, _, path = rest[2:].partition("/")
    return _server("db2", f"//{server}/{path.partition(':')[0]}", table)


def _snowflake(rest: str, table: str) -> Dataset | None:
    found, chosen = _SERVER.match(rest), {name.lower(): value for name, value in parse_qsl(rest.partition("?")[2])}
    if found is None or not found["host"]:
        return None
    return name_table(
        "snowflake", qualify_table(table, (chosen.get("db", ""), chosen.get("schema", ""))), account=found["host"]
    )


def _teradata(rest: str, table: str) -> Dataset | None:
    """`//host/DATABASE=sales,DBS_PORT=1025`."""
    server, _, path = rest[2:].partition("/")
    chosen = dict(one.partition("=")[::2] for one in path.split(","))
    parts = qualify_table(table, (chosen.get("DATABASE", ""),))
    return name_table("teradata", parts, host=server, port=_number(chosen.get("DBS_PORT", "")))


def _bigquery(rest: str, table: str) -> Dataset | None:
    chosen = _properties(rest)
    project = chosen.get("projectid", "")
    return (
        name_table("bigquery", qualify_table(table, (project, chosen.get("defaultdataset", "")))) if project else None
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


def _properties(rest: str) -> dict[str, str]:
    """The properties behind semicolons, by name in small letters."""
    pairs = (one.partition("=")[::2] for one in rest.split(";")[1:])
    return {name.strip().lower(): value.strip() for name, value in pairs}


_READERS: dict[str, Callable[[str, str], Dataset | None]] = {
    "sqlserver": _sql_server,
    "jtds": _jtds,
    "oracle": _oracle,
    "db2": _db2,
    "snowflake": _snowflake,
    "teradata": _teradata,
    "bigquery": _bigquery,
    "hive2": lambda rest, table: _server("hive", rest, table),
}
