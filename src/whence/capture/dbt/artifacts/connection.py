"""The warehouse of a project: OpenLineage's namespace and the SQL dialect, from the adapter and its profile.

The artifacts name only the adapter. Host and port are in `profiles.yml`, whose `env_var(...)` are resolved.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from whence.capture.sql.dialects.dialects import DIALECTS
from whence.errors import ArtifactError

Profile = Mapping[str, Any]

_DIALECTS = {
    "athena": "trino",
    "fabric": "tsql",
    "glue": "spark",
    "sqlserver": "tsql",
    "synapse": "tsql",
}
_NAMESPACES: Mapping[str, Callable[[Profile], str]] = {
    "athena": lambda at: f"awsathena://athena.{at['region_name']}.amazonaws.com",
    "bigquery": lambda _: "bigquery",
    "clickhouse": lambda at: f"clickhouse://{at['host']}:{at.get('port', 8123)}",
    "databricks": lambda at: f"databricks://{at['host']}",
    "dremio": lambda at: f"dremio://{at['software_host']}:{at.get('port', 9047)}",
    "duckdb": lambda at: f"duckdb://{at['path']}",
    "mysql": lambda at: f"mysql://{at.get('server') or at['host']}:{at.get('port', 3306)}",
    "postgres": lambda at: f"postgres://{at['host']}:{at.get('port', 5432)}",
    "redshift": lambda at: f"redshift://{at['host']}:{at.get('port', 5439)}",
    "snowflake": lambda at: f"snowflake://{at['account']}",
    "spark": lambda at: f"spark://{at['host']}:{at.get('port', 443)}",
    "sqlserver": lambda at: f"mssql://{at['server']}:{at.get('port', 1433)}",
    "trino": lambda at: f"trino://{at['host']}:{at.get('port', 8080)}",
}
_ENV = re.compile(r"\{\{\s*env_var\(\s*(['\"])(?P<name>.+?)\1\s*(?:,\s*(['\"])(?P<default>.*?)\3\s*)?\)[^}]*\}\}")


@dataclass(frozen=True, slots=True)
class Warehouse:
    """The location of the tables: the namespace of their names, and the dialect of the SQL."""

    namespace: str
    dialect: str


def warehouse(adapter: str, profile: Profile, namespace: str | None = None) -> Warehouse:
    """The warehouse of an adapter. Raises ArtifactError if neither `namespace` nor the profile locates it."""
    dialect = _DIALECTS.get(adapter, adapter if adapter in DIALECTS else "generic")
    if namespace:
        return Warehouse(namespace, dialect)
    try:
        return Warehouse(_NAMESPACES[adapter](profile), dialect)
    except KeyError as missing:
        what = (
            f"where the {adapter or 'unnamed'} warehouse is ({missing}); say --namespace, such as postgres://host:5432"
        )
        raise ArtifactError("profiles.yml", f"it does not say {what}") from None


def profile_of(project: Path, adapter: str, target: str = "") -> Profile:
    """The connection of the first profile for the adapter, with this target or its default one; empty if there is none.

    Searched like dbt: DBT_PROFILES_DIR, the project's directory, ~/.dbt.
    """
    directories = [os.environ.get("DBT_PROFILES_DIR"), str(project), str(Path.home() / ".dbt")]
    for directory in filter(None, directories):
        for output in _outputs(Path(directory) / "profiles.yml", target):
            if output.get("type") == adapter:
                return output
    return {}


def _outputs(path: Path, wanted: str) -> list[Profile]:
    """The outputs in a file, those of the wanted or default targets first."""
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    profiles = [value for value in document.values() if isinstance(value, dict)] if isinstance(document, dict) else []
    first, others = list[Profile](), list[Profile]()
    for profile in profiles:
        outputs = profile.get("outputs") or {}
        target = wanted if wanted in outputs else _resolve_variables(profile.get("target", "default"))
        for name, output in outputs.items():
            if isinstance(output, dict):
                (first if name == target else others).append(
                    {key: _resolve_variables(setting) for key, setting in output.items()}
                )
    return first + others


def _resolve_variables(value: Any) -> Any:
    """Resolve the `env_var(...)` in a value."""
    if not isinstance(value, str):
        return value
    return _ENV.sub(lambda reference: os.environ.get(reference["name"], reference["default"] or ""), value)
