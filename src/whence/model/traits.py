"""What facets say of datasets and jobs beside lineage: tags, owners, types, tiers; for filters and for counting."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from whence.model.graph import FacetRow

FACETS = ("datasetType", "jobType", "ownership", "tags", "whence_tier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What facets say of one dataset or job. `types` are upper case, all else is as it was said.

    `tags` are (key, value, field); the field is empty where the tag is of the whole.
    """

    tags: frozenset[tuple[str, str, str]] = frozenset()
    owners: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    tier: str = ""

    def tags_of(self, field_name: str | None) -> frozenset[str]:
        """Keys, and `key=value`: of a whole dataset with those of its fields, of a field with those of the whole."""
        meant = [one for one in self.tags if field_name is None or one[2] in ("", field_name)]
        return frozenset({key for key, _, _ in meant} | {f"{key}={value}" for key, value, _ in meant if value})


NONE = Traits()


def read_traits(rows: Iterable[FacetRow]) -> Traits:
    """What several facets of one thing say together. Malformed ones say nothing."""
    return traits_of((row.name, row.payload) for row in rows)


def traits_of(facets: Iterable[tuple[str, str]]) -> Traits:
    """The same of (name, payload)."""
    return _together(tuple(sorted(facets)))


@lru_cache(maxsize=65_536)
def _together(facets: tuple[tuple[str, str], ...]) -> Traits:
    parts = [_read(name, payload) for name, payload in facets]
    return Traits(
        tags=frozenset().union(*(one.tags for one in parts)),
        owners=frozenset().union(*(one.owners for one in parts)),
        types=frozenset().union(*(one.types for one in parts)),
        tier=max((one.tier for one in parts), default=""),
    )


@lru_cache(maxsize=65_536)
def _read(name: str, payload: str) -> Traits:
    facet = json.loads(payload)
    match name:
        case "tags":
            tags = frozenset((_text(one, "key"), _value(one), _text(one, "field")) for one in _objects(facet, "tags"))
            return Traits(tags=tags, tier=next((value for key, value, _ in sorted(tags) if key == "tier"), ""))
        case "ownership":
            owners = (_text(one, "name") for one in _objects(facet, "owners"))
            return Traits(owners=frozenset(filter(None, owners)))
        case "whence_tier":
            return Traits(tier=_text(facet, "tier"))
    return Traits(types=frozenset(filter(None, [_text(facet, name).upper()])))


def _value(tag: Mapping[str, Any]) -> str:
    value = _text(tag, "value")
    return "" if value.lower() == "true" else value


def _objects(facet: Any, key: str) -> list[Mapping[str, Any]]:
    several = facet.get(key) if isinstance(facet, dict) else None
    return [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []


def _text(one: Any, key: str) -> str:
    value = one.get(key) if isinstance(one, dict) else None
    return str(value) if isinstance(value, str | int) else ""
