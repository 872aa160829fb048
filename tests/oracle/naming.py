"""Normalised names (docs/state.md, "Names")."""

import re
from typing import Any

from oracle.nodes import Node

SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}
PATHS = {"s3", "gs", "abfss", "wasbs", "hdfs", "dbfs", "file"}
PORTS = {
    "postgres": "5432",
    "mysql": "3306",
    "mssql": "1433",
    "sqlserver": "1433",
    "oracle": "1521",
    "redshift": "5439",
    "cassandra": "9042",
    "kafka": "9092",
}


def dataset_node(one: dict[str, Any]) -> Node | None:
    """The dataset that `namespace` and `name` of an object name, or None if they do not."""
    namespace, name = one.get("namespace"), one.get("name")
    if not (isinstance(namespace, str) and isinstance(name, str) and namespace and name):
        return None
    return ("dataset", *normal(namespace, name))


def job_node(one: object) -> Node | None:
    """The job that an object names with two strings, or None."""
    if not isinstance(one, dict):
        return None
    namespace, name = one.get("namespace"), one.get("name")
    if not (isinstance(namespace, str) and isinstance(name, str)):
        return None
    return ("job", without_credentials(namespace), without_credentials(name))


def normal(namespace: str, name: str) -> tuple[str, str]:
    """A dataset's normalised namespace and name."""
    namespace, name = _namespace(without_credentials(namespace)), without_credentials(name)
    if names_paths(namespace):
        name = re.sub("/+", "/", name)
        name = name.removesuffix("/") or name
    return namespace, name


def names_paths(namespace: str) -> bool:
    """Whether the names in a normalised namespace are paths."""
    scheme, found, _ = namespace.partition("://")
    return namespace == "file" or (bool(found) and scheme in PATHS)


def without_credentials(text: str) -> str:
    """`://user:password@` as `://`."""
    return re.sub("(?<=://)[^/]*@", lambda found: "" if ":" in found[0] else found[0], text)


def _namespace(namespace: str) -> str:
    scheme, found, rest = namespace.partition("://")
    if not found:
        return namespace
    scheme, rest = SCHEMES.get(scheme, scheme), rest.rstrip("/")
    if scheme == "file" and not rest:
        return "file"
    bare = re.fullmatch(r"([^][/,?\s:]+|\[[^][/,?\s]*\])(:|:None)?", rest)
    if bare and scheme in PORTS:
        rest = f"{bare[1]}:{PORTS[scheme]}"
    return f"{scheme}://{rest}"
