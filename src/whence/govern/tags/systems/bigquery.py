"""BigQuery: tables with `policyTags` in their schemas, as `bq show --format=json` and the API write them, in and out.

A column has one policy tag at most, and it is a resource, not a word. So those that stand for a category are given.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from whence.errors import ArtifactError
from whence.govern.tags.exports import TagExport, export_of, read_json
from whence.govern.tags.known import KnownLabel
from whence.govern.tags.places import Place, TagAt, is_printable
from whence.govern.tags.plan import Change, TagForm, TagPlan

KEY = "policy_tag"
_PARTS = ("projectId", "datasetId", "tableId")
_DEEPEST = 15
"""How deep BigQuery nests records."""
_RECORDS = ("RECORD", "STRUCT")
"""Types of columns that cannot have policy tags; the columns in them can."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BigQuery:
    """`policy_tags`: the resource name of the policy tag of each category. `names`: display names of others."""

    policy_tags: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        return TagForm(split=_split, tag_of=self._tag_of, is_single=True, requires="column")

    def read(self, text: str, name: str) -> TagExport:
        """The policy tags in schemas of tables. Raises ArtifactError."""
        tags, places = list[TagAt](), list[Place]()
        for table in _tables(text, name):
            for place, column in _columns(table, name):
                if str(column.get("type", "")).upper() not in _RECORDS:
                    places.append(place)
                tags += [self._tag(place, one) for one in _resources(column)]
        return export_of(tags, places)

    def write(self, plan: TagPlan, export: str) -> str:
        """The tables that change, with their whole schemas: bodies of `tables.patch`, and schemas of `bq update`."""
        changes: dict[tuple[str, ...], dict[str, Change]] = {}
        for one in plan.changes:
            changes.setdefault(one.place.table, {})[one.place.column] = one
        tables = [_changed(table, changes[_parts(table)]) for table in _tables(export, "") if _parts(table) in changes]
        return json.dumps(tables, indent=2) + "\n"

    def _tag_of(self, label: KnownLabel) -> tuple[str, str] | None:
        resource = self.policy_tags.get(label.category)
        return None if resource is None else (KEY, resource)

    def _tag(self, place: Place, resource: str) -> TagAt:
        is_ours = resource in self.policy_tags.values()
        return TagAt(place=place, key=KEY, value=self.names.get(resource, resource), is_ours=is_ours)


def read_policy_tags(text: str, name: str) -> Mapping[str, str]:
    """The display names of policy tags by their resource names, as `policyTags.list` of the API answers.

    Raises ArtifactError.
    """
    found = read_json(text, name)
    tags = found.get("policyTags") if isinstance(found, dict) else found
    if not isinstance(tags, list) or not all(isinstance(one, dict) and "name" in one for one in tags):
        raise ArtifactError(
            name, "has no policy tags: save the answer of projects.locations.taxonomies.policyTags.list"
        )
    return {str(one["name"]): str(one.get("displayName", one["name"])) for one in tags}


def _split(name: str) -> tuple[str, ...] | str:
    found = tuple(name.rsplit(".", 2))
    if len(found) != 3 or not all(found):
        return "its name has not the three parts project.dataset.table"
    return found if is_printable(name) else "its name has control characters"


def _tables(text: str, name: str) -> list[Json]:
    found = read_json(text, name) if text.strip() else []
    tables = found if isinstance(found, list) else [found]
    if not all(isinstance(one, dict) and isinstance(one.get("tableReference"), dict) for one in tables):
        raise ArtifactError(name, "has no tableReference: write it with `bq show --format=json PROJECT:DATASET.TABLE`")
    return tables


def _parts(table: Json) -> tuple[str, ...]:
    return tuple(str(table["tableReference"].get(key, "")) for key in _PARTS)


def _columns(table: Json, name: str) -> Iterator[tuple[Place, Json]]:
    """Every column, nested ones dotted, with its JSON."""
    parts = _parts(table)
    for path, column in _nested(table.get("schema"), "", name, 0):
        yield Place(parts, path), column


def _nested(holder: Any, prefix: str, name: str, depth: int) -> Iterator[tuple[str, Json]]:
    fields = holder.get("fields") if isinstance(holder, dict) else None
    if depth > _DEEPEST or not isinstance(fields, list | None):
        raise ArtifactError(name, "has a schema that is no list of fields, or is nested too deeply")
    for one in fields or ():
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise ArtifactError(name, "has a field without a name")
        yield prefix + one["name"], one
        yield from _nested(one, f"{prefix}{one['name']}.", name, depth + 1)


def _resources(column: Json) -> list[str]:
    tags = column.get("policyTags")
    names = tags.get("names") if isinstance(tags, dict) else None
    return [one for one in names if isinstance(one, str)] if isinstance(names, list) else []


def _changed(table: Json, changes: Mapping[str, Change]) -> Json:
    found = deepcopy({key: table[key] for key in ("tableReference", "schema")})
    for place, column in _columns(found, ""):
        if (change := changes.get(place.column)) is not None:
            column["policyTags"] = {"names": [] if change.value is None else [change.value]}
    return found
