"""Facets without hidden fields: only facets with a known structure are shown."""

import json
from collections.abc import Callable
from typing import Any

from whence.openlineage.facets.facet_keys import CONTRACT, CONTRACT_VERSION, SQL_LINEAGE
from whence.openlineage.facets.steward_tags import TAG_FACETS

PLAIN = frozenset({"datasetType", "jobType", "ownership", "sourceCodeLocation", "whence_tier"})
"""Facets that name neither another dataset nor a field."""

_OF_READER = ("reader", "dialect", "status")
"""Facets that name no table."""

_OF_CONTRACT_READER = ("id", "version", "status", "standard", "owners", "approvedBy")
"""Facets of contracts without their text: that names fields, and other datasets."""

SHOWN_OF_RUNS = frozenset({"nominalTime"})
"""Facets of runs that contain no names."""

Show = Callable[[str], str]
"""The name or pseudonym of a field."""


def shown_facet(name: str, payload: str, show: Show) -> str | None:
    """A facet's JSON as a viewer may read it, or None if it is hidden."""
    if name in PLAIN:
        return payload
    if name == SQL_LINEAGE:
        return json.dumps({key: value for key, value in _object(payload).items() if key in _OF_READER})
    if name == CONTRACT or name.startswith(CONTRACT_VERSION):
        return json.dumps({key: value for key, value in _object(payload).items() if key in _OF_CONTRACT_READER})
    return _tags(payload, show) if name in TAG_FACETS else None


def shown_schema(payload: str, show: Show) -> str:
    """A schema facet's fields (rule 24): a hidden field keeps its position, without name and type."""
    facet = _object(payload)
    return json.dumps({"fields": _fields(facet.get("fields"), "", show)})


def tags_in(payload: str) -> list[dict[str, Any]]:
    """The entries of a tags facet that have a key."""
    return [one for one in _entries(payload) if isinstance(one.get("key"), str) and one["key"]]


def _entries(payload: str) -> list[dict[str, Any]]:
    tags = _object(payload).get("tags")
    return [one for one in tags if isinstance(one, dict)] if isinstance(tags, list) else []


def _tags(payload: str, show: Show) -> str:
    listed = _entries(payload)
    return json.dumps({"tags": [one for one in listed if _is_shown(one.get("field"), show)]})


def _is_shown(field: Any, show: Show) -> bool:
    return not field or (isinstance(field, str) and show(field) == field)


def _fields(fields: Any, prefix: str, show: Show) -> list[dict[str, Any]]:
    listed = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
    named = [(one, one["name"]) for one in listed if isinstance(one.get("name"), str)]
    return [_field(one, f"{prefix}{name}", name, show) for one, name in named]


def _field(one: dict[str, Any], whole: str, name: str, show: Show) -> dict[str, Any]:
    known = show(whole)
    if known != whole:
        return {"name": known}
    kept = {"name": name, "type": one.get("type")}
    return kept | ({"fields": _fields(one["fields"], f"{whole}.", show)} if "fields" in one else {})


def _object(payload: str) -> dict[str, Any]:
    try:
        value = json.loads(payload) if payload else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
