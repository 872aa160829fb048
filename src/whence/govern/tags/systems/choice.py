"""The systems by name, and the options that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whence.errors import QuestionError
from whence.govern.tags.exports import TagSystem
from whence.govern.tags.systems.bigquery import BigQuery
from whence.govern.tags.systems.dbt import Dbt
from whence.govern.tags.systems.ranger import Ranger
from whence.govern.tags.systems.snowflake import Snowflake
from whence.govern.tags.systems.unity_catalog import UnityCatalog
from whence.openlineage.facets.steward_tags import SYSTEMS
from whence.query.sensitivity.marks import CATEGORIES


class SystemName(StrEnum):
    """The systems whose tags are read and written."""

    SNOWFLAKE = "snowflake"
    BIGQUERY = "bigquery"
    UNITY_CATALOG = "unity-catalog"
    RANGER = "ranger"
    DBT = "dbt"

    @property
    def source(self) -> str:
        """The `source` of tags that were imported from it."""
        return SYSTEMS[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOptions:
    """`tag_schema`, `masking`: of Snowflake; `policy_tags`, `tag_names`: of BigQuery; `service`: of Ranger.

    `masking` and `policy_tags` are texts such as `pii=GOVERNANCE.POLICIES.MASK`.
    """

    tag_schema: str = ""
    masking: Sequence[str] = ()
    policy_tags: Sequence[str] = ()
    tag_names: Mapping[str, str] | None = None
    service: str = ""


def choose_system(name: SystemName, options: SystemOptions) -> TagSystem:
    """A system with its options. Raises QuestionError for an option that it does not have, or that is malformed."""
    of: dict[SystemName, dict[str, object]] = {
        SystemName.SNOWFLAKE: {"tag-schema": options.tag_schema, "masking-policy": options.masking},
        SystemName.BIGQUERY: {"policy-tag": options.policy_tags, "policy-tag-names": options.tag_names},
        SystemName.RANGER: {"service": options.service},
    }
    for system, given in of.items():
        if system is not name and (wrong := [key for key, value in given.items() if value]):
            raise QuestionError(wrong[0], f"is an option of {system}, not of {name}")
    match name:
        case SystemName.SNOWFLAKE:
            masking = _by_category("masking-policy", options.masking)
            return Snowflake(options.tag_schema, {key: tuple(several) for key, several in masking.items()})
        case SystemName.BIGQUERY:
            tags = _by_category("policy-tag", options.policy_tags)
            return BigQuery({key: several[-1] for key, several in tags.items()}, options.tag_names or {})
        case SystemName.UNITY_CATALOG:
            return UnityCatalog()
        case SystemName.RANGER:
            return Ranger(options.service)
    return Dbt()


def _by_category(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        category, _, value = text.partition("=")
        if category not in CATEGORIES or not value:
            raise QuestionError(option, f"{text!r}: write CATEGORY=NAME, the category one of {', '.join(CATEGORIES)}")
        found.setdefault(category, []).append(value)
    return found
