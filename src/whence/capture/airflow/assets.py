"""Assets as datasets: by their URI, named as Airflow's providers and the other captures name what is there."""

from urllib.parse import unquote, urlsplit

from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import own_facet

_TABLES = frozenset(
    ("postgres", "postgresql", "mysql", "mariadb", "mssql", "oracle", "redshift", "trino", "clickhouse")
)
_WAREHOUSES = frozenset(("bigquery", "snowflake"))
_FILES = frozenset(
    ("file", "dbfs", "hdfs", "s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "oss", "cos")
)


def name_asset(asset: Json, naming: Naming) -> Dataset:
    """The dataset of an asset: a file or table by its URI, any other by its name at the Airflow."""
    uri = str(asset.get("uri") or "")
    scheme, rest = uri.partition("://")[0].lower(), uri.partition("://")[2]
    parts = [unquote(part) for part in rest.partition("?")[0].split("/") if part]
    if scheme in _FILES and rest:
        return naming.file(uri)
    if scheme in _TABLES and len(parts) > 1:
        return naming.table_of_url(f"{scheme}://{urlsplit(uri).netloc}/{parts[1]}", ".".join(parts[2:] or parts[1:2]))
    if scheme == "kafka" and len(parts) == 2:
        return naming.topic(parts[0], parts[1])
    if scheme in _WAREHOUSES and len(parts) > 1:
        names = parts if scheme == "bigquery" else parts[1:]
        return naming.table(scheme, names, account=parts[0])
    return Dataset(naming.instance, f"assets/{asset.get('name') or uri or 'asset'}")


def describe_asset(asset: Json, naming: Naming) -> Dataset:
    """The dataset of an asset, with what Airflow knows of it."""
    named = name_asset(asset, naming)
    members: Json = {"name": str(asset.get("name") or ""), "uri": str(asset.get("uri") or "")}
    if isinstance(extra := asset.get("extra"), dict) and extra:
        members["extra"] = extra
    facets = {"whence_airflowAsset": own_facet("AirflowAssetFacet", **members)}
    return Dataset(named.namespace, named.name, run_facets=facets)
