"""Producers of events, parsed from the `producer` URI: adapter name and version (reference rule 52).

>>> parse_adapter("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark")
Adapter(name='OpenLineage/spark', version='1.53.0')
>>> parse_adapter("https://github.com/apache/airflow/tree/providers-openlineage/2.20.3")
Adapter(name='apache/airflow/providers-openlineage', version='2.20.3')
>>> parse_adapter("https://pypi.org/project/whence/0.1.0")
Adapter(name='whence', version='0.1.0')
>>> parse_adapter("https://example.org/nightly?token=1")
Adapter(name='example.org/nightly', version='')
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from whence.model.events import JobEvent, RunEvent
from whence.openlineage.json.wire import decode

LENGTH = 80
"""The maximum length of an adapter's name and version."""

_VERSION = re.compile(r"v?([0-9]+(?:[.-][0-9A-Za-z]+)*(?:\+[0-9A-Za-z.]+)?)", re.ASCII)
_BRANCHES = frozenset({"refs", "heads", "tags", "release", "releases"})
"""Beginnings of refs that are no part of the repository."""
_UNFIT = re.compile(r"[^A-Za-z0-9._/+-]+", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Adapter:
    """A producer of events, in characters allowed in a label. The version is empty if the URI has none."""

    name: str
    version: str = ""


UNKNOWN = Adapter("unknown")
"""The adapter of events without a producer."""


def is_of_spark(event: RunEvent | JobEvent) -> bool:
    """Whether openlineage-spark reported the event: its schemas are complete, its SQL may be another statement's."""
    if "/integration/spark" in event.producer:
        return True
    payload = next((facet.payload for facet in event.job.facets if facet.key == "jobType" and not facet.deleted), "")
    return bool(payload) and str(decode(payload.encode()).get("integration")).upper() == "SPARK"


def parse_adapter(uri: str) -> Adapter:
    """Parse the adapter in a producer URI."""
    return _parse_adapter_cached(uri) if len(uri) <= 200 else _parse_adapter(uri[:1_000])


def _parse_adapter(uri: str) -> Adapter:
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        host, path = "", [uri]
    else:
        path = [step for step in parts.path.split("/") if step]
    name, version = _split_uri(host, path)
    cleaned = _UNFIT.sub("_", name)[:LENGTH]
    return Adapter(cleaned, version[:LENGTH]) if cleaned else UNKNOWN


_parse_adapter_cached = lru_cache(maxsize=1_024)(_parse_adapter)


def _split_uri(host: str, path: list[str]) -> tuple[str, str]:
    match host, path:
        case "github.com", [owner, repository, "tree" | "blob", *rest]:
            return _split_repository(owner, repository, rest)
        case "pypi.org", ["project", name, *rest]:
            return name, _parse_version(rest[-1]) if rest else ""
    last = path[-1] if path else ""
    version = _parse_version(last)
    kept = path[:-1] if version else path
    return "/".join([host, *kept] if host else kept), version


def _split_repository(owner: str, repository: str, rest: list[str]) -> tuple[str, str]:
    """Parse the path after the ref, which may contain slashes: the repository's part comes last."""
    ref_end = next((index for index, step in enumerate(rest) if _parse_version(step)), 0)
    parts, tagged = rest[ref_end + 1 :], [step for step in rest[:ref_end] if step not in _BRANCHES]
    name = parts[-1] if parts else "/".join([repository, *tagged])  # a tag of a part: `providers-openlineage/2.20.3`
    return f"{owner}/{name}", _parse_version(rest[ref_end]) if rest else ""


def _parse_version(text: str) -> str:
    match = _VERSION.fullmatch(text)
    return match[1] if match else ""
