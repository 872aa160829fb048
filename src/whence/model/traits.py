"""Traits of datasets and jobs, read from facets: tags, owners, types, tiers. Filters and counts use them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from whence.model.graph import FacetRow, HeldFacetRow

DOMAIN = "domain"
"""The tag of a dataset whose value is the domain that it belongs to."""
RUNBOOK = "runbook"
"""The tag of a dataset whose value is the address of what to do if it is wrong."""
TRAIT_FACETS = (
    "datasetType",
    "jobType",
    "ownership",
    "tags",
    "whence_assignedTags",
    "whence_stewardTags",
    "whence_tier",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The traits of one dataset or job. `types` are upper case; everything else is as the producer wrote it.

    `tags` are (key, value, field); the field is empty if the tag is on the whole dataset or job.
    """

    tags: frozenset[tuple[str, str, str]] = frozenset()
    owners: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    tier: str = ""

    def tags_of(self, field_name: str | None) -> frozenset[str]:
        """Tags as `key` and `key=value`: those of the dataset and of one field, or of all its fields if None."""
        tags = [tag for tag in self.tags if field_name is None or tag[2] in ("", field_name)]
        return frozenset({key for key, _, _ in tags} | {f"{key}={value}" for key, value, _ in tags if value})

    def value_of(self, key: str) -> str:
        """The value of a tag on the whole dataset or job: the first one by name; empty without one."""
        return next((value for name, value, field in sorted(self.tags) if name == key and not field), "")


NO_TRAITS = Traits()


def read_traits(rows: Iterable[FacetRow | HeldFacetRow]) -> Traits:
    """The traits in several facets of one dataset or job. Malformed facets have none."""
    return parse_traits((row.name, row.payload) for row in rows)


def parse_traits(facets: Iterable[tuple[str, str]]) -> Traits:
    """The traits in facets, as (name, payload). Malformed facets have none."""
    return _merge_traits(tuple(sorted(facets)))


@lru_cache(maxsize=65_536)
def _merge_traits(facets: tuple[tuple[str, str], ...]) -> Traits:
    parts = [_parse_facet(name, payload) for name, payload in facets]
    return Traits(
        tags=frozenset().union(*(item.tags for item in parts)),
        owners=frozenset().union(*(item.owners for item in parts)),
        types=frozenset().union(*(item.types for item in parts)),
        tier=max((item.tier for item in parts), default=""),
    )


@lru_cache(maxsize=65_536)
def _parse_facet(name: str, payload: str) -> Traits:
    facet = json.loads(payload) if payload else {}  # nothing is left of a facet that was deleted
    match name:
        case "tags" | "whence_assignedTags" | "whence_stewardTags":
            tags = frozenset(
                (_text(item, "key"), _value(item), _text(item, "field")) for item in _objects(facet, "tags")
            )
            return Traits(tags=tags, tier=next((value for key, value, _ in sorted(tags) if key == "tier"), ""))
        case "ownership":
            owners = (_text(item, "name") for item in _objects(facet, "owners"))
            return Traits(owners=frozenset(filter(None, owners)))
        case "whence_tier":
            return Traits(tier=_text(facet, "tier"))
    return Traits(types=frozenset(filter(None, [_text(facet, name).upper()])))


def _value(tag: Mapping[str, Any]) -> str:
    value = _text(tag, "value")
    return "" if value.lower() == "true" else value


def _objects(facet: Any, key: str) -> list[Mapping[str, Any]]:
    items = facet.get(key) if isinstance(facet, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(item: Any, key: str) -> str:
    value = item.get(key) if isinstance(item, dict) else None
    return str(value) if isinstance(value, str | int) else ""
