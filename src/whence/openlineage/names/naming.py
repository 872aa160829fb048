"""Normal forms of dataset and job names (state.md, "Names"; reference rules 26-28).

>>> normalise("s3a://lake/", "raw//users/")
DatasetName(namespace='s3://lake', name='raw/users')
>>> normalise("postgres://etl:pw@db", "shop.public.orders")
DatasetName(namespace='postgres://db:5432', name='shop.public.orders')
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from whence.model.names import DatasetName, FieldName, JobName
from whence_client.redaction.credentials import strip_credentials

NO_NUL = "a name holds U+0000, which databases cannot keep"


class Fold(Enum):
    """How letter case is folded in the dataset names of a scheme."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """Normalisation rules per namespace scheme, by default those of state.md. Only `folds` changes the letter case."""

    schemes: Mapping[str, str] = field(
        default_factory=lambda: {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}
    )
    ports: Mapping[str, int] = field(
        default_factory=lambda: {
            "cassandra": 9042,
            "kafka": 9092,
            "mssql": 1433,
            "mysql": 3306,
            "oracle": 1521,
            "postgres": 5432,
            "redshift": 5439,
            "sqlserver": 1433,
        }
    )
    paths: frozenset[str] = frozenset({"s3", "gs", "abfss", "wasbs", "hdfs", "dbfs", "file"})
    folds: Mapping[str, Fold] = field(default_factory=lambda: MappingProxyType({}))

    def apply(self, namespace: str, name: str) -> DatasetName:
        """Normalise a name. Applying the rules again changes nothing."""
        scheme, namespace = self._namespace(strip_credentials(namespace))
        name = strip_credentials(name)
        if self.names_paths(namespace):
            name = _normalise_path(name)
        if fold := self.folds.get(scheme):
            name = name.lower() if fold is Fold.LOWER else name.upper()
        return DatasetName(namespace, name)

    def names_paths(self, namespace: str) -> bool:
        """Whether the names in a normalised namespace are paths."""
        scheme, separator, _ = namespace.partition("://")
        return scheme in self.paths if separator else namespace == "file"

    def _namespace(self, namespace: str) -> tuple[str, str]:
        scheme, separator, rest = namespace.partition("://")
        if not separator:
            return namespace, namespace
        scheme = self.schemes.get(scheme, scheme)
        rest = rest.rstrip("/")
        if scheme == "file" and not rest:
            return "file", "file"
        port = self.ports.get(scheme)
        if port and (host := _PORTLESS.fullmatch(rest)):
            rest = f"{host[1]}:{port}"
        return scheme, f"{scheme}://{rest}"


_PORTLESS = re.compile(r"(\[[^\]/,?\s]*\]|[^:/,?\s\[\]]+)(?::|:None)?")
_SLASHES = re.compile("//+")

RULES = NameRules()


def normalise(namespace: str, name: str) -> DatasetName:
    """Normalise a dataset name by the default rules. Raises ValueError if a text holds U+0000."""
    if len(namespace) + len(name) > _CACHED_LENGTH:
        return _normalise(namespace, name)
    return _normalise_cached(namespace, name)


def read_field_name(source: Mapping[str, Any]) -> FieldName | None:
    """The field named by `namespace`, `name` and `field` of an object, or None. Raises ValueError like `normalise`."""
    namespace, name, field = source.get("namespace"), source.get("name"), source.get("field")
    if type(namespace) is not str or type(name) is not str or type(field) is not str:
        return None
    if len(namespace) + len(name) + len(field) > _CACHED_LENGTH:
        return _make_field(namespace, name, field)
    return _make_field_cached(namespace, name, field)


def normalise_job(namespace: str, name: str) -> JobName:
    """The job name: unchanged except for credentials in a URI. Raises ValueError if a text holds U+0000."""
    if len(namespace) + len(name) > _CACHED_LENGTH:
        return _make_job(namespace, name)
    return _make_job_cached(namespace, name)


def _make_job(namespace: str, name: str) -> JobName:
    _refuse_nul(namespace, name)
    return JobName(strip_credentials(namespace), strip_credentials(name))


def has_path_names(namespace: str) -> bool:
    """Whether the names in a normalised namespace are paths."""
    return RULES.names_paths(namespace)


def _normalise_path(name: str) -> str:
    name = _SLASHES.sub("/", name) if "//" in name else name
    return name[:-1] if len(name) > 1 and name.endswith("/") else name


def _normalise(namespace: str, name: str) -> DatasetName:
    _refuse_nul(namespace, name)
    return RULES.apply(namespace, name)


def _make_field(namespace: str, name: str, field: str) -> FieldName | None:
    if not namespace or not name or not field:
        return None
    _refuse_nul(field)
    return FieldName(normalise(namespace, name), field)


def _refuse_nul(*texts: str) -> None:
    if any("\0" in text for text in texts):
        raise ValueError(NO_NUL)


# Names repeat from event to event. Long ones are not cached: senders must not be able to fill the memory.
_CACHED_LENGTH = 400
_normalise_cached = lru_cache(maxsize=16_384)(_normalise)
_make_job_cached = lru_cache(maxsize=16_384)(_make_job)
_make_field_cached = lru_cache(maxsize=16_384)(_make_field)
