"""Datasets by the URIs that orchestrators keep of their assets, named as the other captures name what is there."""

from urllib.parse import unquote, urlsplit

from whence_client.captures import Naming
from whence_client.events.datasets import Dataset

_TABLES = frozenset(
    ("postgres", "postgresql", "mysql", "mariadb", "mssql", "oracle", "redshift", "trino", "clickhouse")
)
_WAREHOUSES = frozenset(("bigquery", "snowflake"))
_FILES = frozenset(
    ("file", "dbfs", "hdfs", "s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "oss", "cos")
)


def name_uri(uri: str, naming: Naming) -> Dataset | None:
    """The file, table or topic at a URI; None if the URI names none, as a web page does.

    >>> name_uri("postgresql://db/shop/public/orders", Naming("prod")).name
    'shop.public.orders'
    """
    scheme, rest = uri.partition("://")[0].lower(), uri.partition("://")[2]
    parts = [unquote(part) for part in rest.partition("?")[0].split("/") if part]
    if (scheme in _FILES and rest) or uri.startswith(("file:/", "dbfs:/")):
        return naming.file(uri)
    if scheme in _TABLES and len(parts) > 1:
        return naming.table_of_url(f"{scheme}://{urlsplit(uri).netloc}/{parts[1]}", ".".join(parts[2:] or parts[1:2]))
    if scheme == "kafka" and len(parts) == 2:
        return naming.topic(parts[0], parts[1])
    if scheme in _WAREHOUSES and len(parts) > 1:
        names = parts if scheme == "bigquery" else parts[1:]
        return naming.table(scheme, names, account=parts[0])
    return None
