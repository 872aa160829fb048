"""Who made an event, from its `producer` URI: a short name and the version of the adapter (reference rule 52).

>>> adapter("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark")
Adapter(name='OpenLineage/spark', version='1.53.0')
>>> adapter("https://github.com/apache/airflow/tree/providers-openlineage/2.20.3")
Adapter(name='apache/airflow', version='2.20.3')
>>> adapter("https://pypi.org/project/whence/0.1.0")
Adapter(name='whence', version='0.1.0')
>>> adapter("https://example.org/nightly?token=1")
Adapter(name='example.org/nightly', version='')
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

LENGTH = 80
"""The most of a name or a version that is kept."""

_VERSION = re.compile(r"v?([0-9]+(?:[.-][0-9A-Za-z]+)*(?:\+[0-9A-Za-z.]+)?)", re.ASCII)
_UNFIT = re.compile(r"[^A-Za-z0-9._/+-]+", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Adapter:
    """What produces events, in letters that fit a label; the version is empty where the URI names none."""

    name: str
    version: str = ""


UNKNOWN = Adapter("unknown")
"""Of events that name no producer."""


def adapter(uri: str) -> Adapter:
    """The adapter that a producer URI names."""
    return _adapter_once(uri) if len(uri) <= 200 else _adapter(uri[:1_000])


def _adapter(uri: str) -> Adapter:
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        host, path = "", [uri]
    else:
        path = [step for step in parts.path.split("/") if step]
    name, version = _named(host, path)
    cleaned = _UNFIT.sub("_", name)[:LENGTH]
    return Adapter(cleaned, version[:LENGTH]) if cleaned else UNKNOWN


_adapter_once = lru_cache(maxsize=1_024)(_adapter)


def _named(host: str, path: list[str]) -> tuple[str, str]:
    match host, path:
        case "github.com", [owner, repository, "tree" | "blob", *rest]:
            return _in_repository(owner, repository, rest)
        case "pypi.org", ["project", name, *rest]:
            return name, _version(rest[-1]) if rest else ""
    last = path[-1] if path else ""
    version = _version(last)
    kept = path[:-1] if version else path
    return "/".join([host, *kept] if host else kept), version


def _in_repository(owner: str, repository: str, rest: list[str]) -> tuple[str, str]:
    """After the ref, which may have slashes of its own, stands the part of the repository."""
    at = next((place for place, step in enumerate(rest) if _version(step)), 0)
    parts = rest[at + 1 :]
    return f"{owner}/{parts[-1] if parts else repository}", _version(rest[at]) if rest else ""


def _version(text: str) -> str:
    found = _VERSION.fullmatch(text)
    return found[1] if found else ""
