"""The columns of a live database, by SQLAlchemy's inspection: it reads only the catalog, no row of any table.

No password leaves this module: URLs are shown without password and options, and driver messages are searched for them.
Databases provide better places for passwords than a command line: PGPASSFILE, my.cnf, a wallet.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from whence.capture.schemas.quoting import catalog_from
from whence.capture.sql import Catalog
from whence.capture.sql.dialects.functions import words
from whence.errors import SchemaError

CONNECT_SECONDS = 10

_PACKAGES = {
    "awsathena": "PyAthena[SQLAlchemy]",
    "bigquery": "sqlalchemy-bigquery",
    "clickhouse": "clickhouse-sqlalchemy",
    "databricks": "databricks-sqlalchemy",
    "duckdb": "duckdb-engine",
    "hive": "pyhive[hive]",
    "mariadb": "mysqlclient",
    "mssql": "pyodbc",
    "mysql": "mysqlclient",
    "oracle": "oracledb",
    "postgresql": "psycopg[binary]",
    "redshift": "sqlalchemy-redshift",
    "snowflake": "snowflake-sqlalchemy",
    "teradatasql": "teradatasqlalchemy",
    "trino": "trino[sqlalchemy]",
}
"""The package to install for each database URL (docs.sqlalchemy.org, "Dialects": included and external ones)."""
_SYSTEM = words(
    "information_schema pg_catalog performance_schema mysql sys system xdb ctxsys mdsys wmsys outln dbsnmp audsys "
    "lbacsys ojvmsys olapsys orddata ordsys ordplugins dvsys dvf appqossys dbsfwuser gsmadmin_internal"
)
"""Schemas of the engines themselves."""
_WITHOUT_DATABASE = ("mysql", "mariadb", "sqlite", "oracle", "hive", "clickhouse", "bigquery", "teradatasql")
"""Databases whose table names have no database before the schema."""


def read_database(url: str, dialect: str) -> Catalog:
    """Read the tables and views that the database user may see, named as SQL of a dialect refers to them.

    The schema of the connection comes first, as for a query. Raises SchemaError, DialectError.
    """
    address = _address(url)
    try:
        engine = _engine(address)
        try:
            with engine.connect() as connection:
                return _catalog(connection, address, dialect)
        finally:
            engine.dispose()
    except SQLAlchemyError as error:
        raise SchemaError(without_secrets(address), _safe_message(error, address)) from None


def without_secrets(address: URL) -> str:
    """A URL for display, without password and options, which may hold keys."""
    return address.set(password=None, query={}).render_as_string()


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError:
        raise SchemaError("--schema", "this is no URL of a database: DIALECT://USER@HOST:PORT/DATABASE") from None
    return address.set(drivername="postgresql") if address.drivername == "postgres" else address


def _engine(address: URL) -> Engine:
    backend = address.get_backend_name()
    try:
        if backend == "sqlite":
            return create_engine(_read_only(address), poolclass=NullPool)
        timeouts = {"connect_timeout": CONNECT_SECONDS} if backend in ("postgresql", "mysql", "mariadb") else {}
        arguments = {key: value for key, value in timeouts.items() if key not in address.query}
        return create_engine(address, poolclass=NullPool, connect_args=arguments)
    except (NoSuchModuleError, ImportError):
        package = _PACKAGES.get(backend)
        advice = f"pip install '{package}'" if package else "install the SQLAlchemy dialect of this database"
        raise SchemaError(
            without_secrets(address), f"the driver of {address.drivername} is not installed: {advice}"
        ) from None


def _read_only(address: URL) -> URL:
    """Open SQLite read-only: it would create a missing file, and reading must not write beside an existing one."""
    file = address.database or ""
    if file.startswith("file:"):
        return address
    if not Path(file).is_file():
        raise SchemaError(without_secrets(address), "there is no such file")
    return address.set(database=f"{Path(file).absolute().as_uri()}", query={"mode": "ro", "uri": "true"})


def _catalog(connection: Connection, address: URL, dialect: str) -> Catalog:
    inspector = inspect(connection)
    prefix = _database(address)
    default_schema = inspector.default_schema_name
    tables = list(_tables(inspector, prefix))
    return catalog_from(tables, dialect, [(*prefix, default_schema)] if default_schema else [])


def _tables(inspector: Inspector, prefix: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    for schema in inspector.get_schema_names():
        if schema.lower() in _SYSTEM or schema.startswith(("pg_toast", "pg_temp")):
            continue
        columns_by_table: Any = inspector.get_multi_columns(schema=schema, kind=ObjectKind.ANY)
        for (_, table), columns in columns_by_table.items():
            yield (*prefix, schema, table), [column["name"] for column in columns]


def _database(address: URL) -> tuple[str, ...]:
    """The part of a table name before the schema. The URLs of Snowflake and Trino have the schema too, after a
    slash.
    """
    name = (address.database or "").partition("/")[0]
    return (name,) if name and address.get_backend_name() not in _WITHOUT_DATABASE else ()


def _safe_message(error: SQLAlchemyError, address: URL) -> str:
    """An error message on one line, without secrets."""
    text = str(getattr(error, "orig", None) or error)
    values = [
        option_value
        for value in address.query.values()
        for option_value in ([value] if isinstance(value, str) else value)
    ]
    for secret in sorted({str(address.password or ""), *values}, key=len, reverse=True):
        text = text.replace(secret, "***") if secret else text
    return " ".join(text.split()) or type(error).__name__
