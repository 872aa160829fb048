"""Which names mean the same: the normal form of dataset and job names (docs/state.md, "Names"; reference rules 26-28).

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
from whence.openlineage.tokens import MASK, PREFIXES, mask_tokens

NO_NUL = "a name holds U+0000, which databases cannot keep"


class Fold(Enum):
    """How letter case is folded in the dataset names of a scheme."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """What is folded per namespace scheme. By default as in docs/state.md; no letter case unless `folds` says so."""

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
        """The normal form. Applying again changes nothing."""
        scheme, namespace = self._namespace(without_credentials(namespace))
        name = without_credentials(name)
        if self.names_paths(namespace):
            name = _path(name)
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
    """The dataset name that these two texts mean under the default rules. Raises ValueError if one holds U+0000."""
    if len(namespace) + len(name) > _CACHED_LENGTH:
        return _normal(namespace, name)
    return _cached_normal(namespace, name)


def field_name(source: Mapping[str, Any]) -> FieldName | None:
    """The field that `namespace`, `name` and `field` of an object mean, or None. Raises ValueError like `normalise`."""
    namespace, name, field = source.get("namespace"), source.get("name"), source.get("field")
    if type(namespace) is not str or type(name) is not str or type(field) is not str:
        return None
    if len(namespace) + len(name) + len(field) > _CACHED_LENGTH:
        return _field(namespace, name, field)
    return _cached_field(namespace, name, field)


def job_name(namespace: str, name: str) -> JobName:
    """The job name: exact, but for credentials in a URI. Raises ValueError if one holds U+0000."""
    if len(namespace) + len(name) > _CACHED_LENGTH:
        return _job(namespace, name)
    return _cached_job(namespace, name)


def _job(namespace: str, name: str) -> JobName:
    _refuse_nul(namespace, name)
    return JobName(without_credentials(namespace), without_credentials(name))


def is_path(namespace: str) -> bool:
    """Whether the names in a normalised namespace are paths."""
    return RULES.names_paths(namespace)


def without_credentials(text: str) -> str:
    """A name without tokens, values of secret parameters, and `user:password@` in URIs (`container@account` stays).

    >>> without_credentials("mysql://root:pw@db:3306")
    'mysql://db:3306'
    >>> without_credentials("jdbc:mysql://db/shop?user=bob&password=pw")
    'jdbc:mysql://db/shop?user=bob&password=[redacted]'
    """
    if not any(map(text.__contains__, _SIGNS)):
        return text
    # In this order: what is masked may be what a URI's user was taken for.
    text = _SECRET_PARAMETER.sub(rf"\1{MASK}", mask_tokens(text))
    if "@" not in text:
        return text
    head, *rest = text.split("://")
    return "://".join([head, *map(_without_user, rest)])


_SECRET_PARAMETER = re.compile(
    r"([?&;](?:[\w.-]{0,80}(?:passw(?:or[dt]|d)|kennwort|passphrase|pwd|secret|credentials?|token|signature"
    r"|(?:api|access|account|private|shared|encryption|master|signing)[_.-]?key)|sig)=)[^&;]+",
    re.IGNORECASE | re.ASCII,
)
_SIGNS = ("@", "=", *PREFIXES)


def _without_user(rest: str) -> str:
    authority, slash, path = rest.partition("/")
    user, _, host = authority.rpartition("@")
    return f"{host}{slash}{path}" if ":" in user else rest


def _path(name: str) -> str:
    name = _SLASHES.sub("/", name) if "//" in name else name
    return name[:-1] if len(name) > 1 and name.endswith("/") else name


def _normal(namespace: str, name: str) -> DatasetName:
    _refuse_nul(namespace, name)
    return RULES.apply(namespace, name)


def _field(namespace: str, name: str, field: str) -> FieldName | None:
    if not namespace or not name or not field:
        return None
    _refuse_nul(field)
    return FieldName(normalise(namespace, name), field)


def _refuse_nul(*texts: str) -> None:
    if any("\0" in text for text in texts):
        raise ValueError(NO_NUL)


# Names repeat from event to event. Long ones are not kept: a cache must not grow with what strangers send.
_CACHED_LENGTH = 400
_cached_normal = lru_cache(maxsize=16_384)(_normal)
_cached_job = lru_cache(maxsize=16_384)(_job)
_cached_field = lru_cache(maxsize=16_384)(_field)
