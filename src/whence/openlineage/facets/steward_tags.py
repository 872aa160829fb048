"""Tags that only a steward may assign are kept apart from the other tags, so that only a steward removes them; those
that a person assigned or imported also from what a steward's tools report, so that no tool removes them.

A tags facet is replaced as a whole. One whose sender is no steward (`WITHHELD_TAGS`) replaces the other tags only, and
a steward's only the assigned ones too if it says that it knows them (docs/explanation/state.md, "Authority").
"""

import json
from functools import lru_cache
from typing import Any

from whence.openlineage.facets.facets import is_deleted
from whence.openlineage.json.wire import Json, encode_canonical, objects_in

TAGS, STEWARD_TAGS, ASSIGNED_TAGS = "tags", "whence_stewardTags", "whence_assignedTags"
"""Facets: the tags as an event lists them; of those the ones by which a steward's tool certifies; and those that a
person assigned, or imported from a warehouse. Only Whence writes the latter two.
"""
TAG_FACETS = (TAGS, STEWARD_TAGS, ASSIGNED_TAGS)
"""The facets with tags. Tables store the place in this tuple."""
WITHHELD_TAGS = "whence_withheld"
"""The member of a tags facet that marks a sender who is no steward. Only Whence writes it."""
COMPLETE_TAGS = "whence_complete"
"""The member of a tags facet that lists all tags, those that people assigned, too."""
CERTIFICATIONS = ("canonical", "certified")
"""The tags by which a steward certifies a dataset or job."""
USER = "USER"
"""The `source` of a tag that a person assigned."""
SYSTEMS = {
    "snowflake": "SNOWFLAKE",
    "bigquery": "BIGQUERY",
    "unity-catalog": "UNITY_CATALOG",
    "ranger": "RANGER",
    "dbt": "DBT_META",
}
"""The `source` of tags from systems that a steward exported them from (dbt's: that a job reported), by their names."""
_OF_STEWARDS = frozenset({USER, *SYSTEMS.values()} - {SYSTEMS["dbt"]})


def requires_steward(tag: Json, *, of_job: bool) -> bool:
    """Whether only a steward may assign this tag. OpenLineage's clients also mark a job's configured tags as `USER`."""
    return tag.get("key") in CERTIFICATIONS or (not of_job and tag.get("source") in _OF_STEWARDS)


@lru_cache(maxsize=4_096)
def split_tags(payload: str, *, of_job: bool) -> tuple[tuple[str, str], ...]:
    """The facets (name, JSON) that a tags facet gives besides: of those in `TAG_FACETS` about which it says anything.
    The JSON is empty if it says that there is no such tag.
    """
    facet: Json = json.loads(payload)
    if facet.get(WITHHELD_TAGS) is True:
        return ()
    listed = () if is_deleted(facet) else objects_in(facet.get("tags"))
    tags = [tag for _, tag in listed if requires_steward(tag, of_job=of_job)]
    assigned = [tag for tag in tags if tag.get("source") in _OF_STEWARDS]
    certifying = (STEWARD_TAGS, _encode_tags([tag for tag in tags if tag not in assigned]))
    if assigned or is_deleted(facet) or facet.get(COMPLETE_TAGS) is True:
        return certifying, (ASSIGNED_TAGS, _encode_tags(assigned))
    return (certifying,)


def _encode_tags(tags: list[Json]) -> str:
    return encode_canonical({"tags": tags}).decode() if tags else ""


def merge_tags(payload: str, *others: str) -> str:
    """The tags facet with the tags of the other facets in `TAG_FACETS`. All are JSON, empty if there is none."""
    known = [one for one in (payload, *others) if one]
    if len(known) < 2:
        return "".join(known)
    facet: dict[str, Any] = json.loads(known[0])
    tags = facet.get("tags")
    listed = list(tags) if isinstance(tags, list) else []
    more = len(listed)
    for other in known[1:]:
        listed += [tag for tag in json.loads(other)["tags"] if tag not in listed]
    return encode_canonical({**facet, "tags": listed}).decode() if len(listed) > more else known[0]
