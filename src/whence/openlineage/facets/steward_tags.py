"""Tags that only a steward may assign are kept apart from the other tags, so that only a steward removes them.

A tags facet is replaced as a whole. One whose sender is no steward (`WITHHELD_TAGS`) replaces the other tags only
(docs/explanation/state.md, "Authority").
"""

import json
from functools import lru_cache
from typing import Any

from whence.openlineage.facets.facets import is_deleted
from whence.openlineage.json.wire import Json, encode_canonical, objects_in

TAGS, STEWARD_TAGS = "tags", "whence_stewardTags"
"""Facets: the tags as an event lists them; of those the ones that only a steward may assign. Only Whence writes it."""
TAG_FACETS = (TAGS, STEWARD_TAGS)
"""The facets with tags. Tables store the place in this tuple."""
WITHHELD_TAGS = "whence_withheld"
"""The member of a tags facet that marks a sender who is no steward. Only Whence writes it."""
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
def select_steward_tags(payload: str, *, of_job: bool) -> str | None:
    """The facet `whence_stewardTags` that a tags facet (JSON) gives: empty if there is no such tag in it. None if its
    sender was no steward, so that it asserts nothing about them.
    """
    facet: Json = json.loads(payload)
    if facet.get(WITHHELD_TAGS) is True:
        return None
    listed = () if is_deleted(facet) else objects_in(facet.get("tags"))
    tags = [tag for _, tag in listed if requires_steward(tag, of_job=of_job)]
    return encode_canonical({"tags": tags}).decode() if tags else ""


def merge_tags(payload: str, stewards: str) -> str:
    """The tags facet with the tags that only stewards assign. Both are JSON, empty if there is none."""
    if not payload or not stewards:
        return payload or stewards
    facet: dict[str, Any] = json.loads(payload)
    tags = facet.get("tags")
    listed = tags if isinstance(tags, list) else []
    more = [tag for tag in json.loads(stewards)["tags"] if tag not in listed]
    return encode_canonical({**facet, "tags": [*listed, *more]}).decode() if more else payload
