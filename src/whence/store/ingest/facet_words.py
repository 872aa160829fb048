"""The words in facets of datasets, jobs and fields."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName
from whence.model.search_words import split_words
from whence.openlineage.facets.schema_fields import parse_schema_fields
from whence.openlineage.facets.steward_tags import ASSIGNED_TAGS, STEWARD_TAGS, TAGS
from whence.openlineage.json.wire import text_of

FACETS = (TAGS, "ownership", "documentation", "schema", STEWARD_TAGS, ASSIGNED_TAGS)
"""The searched facets: tags, owners, descriptions, and descriptions of fields. Their indexes are stored."""


def words_of_facet(name: tuple[str, str], subject: int, facet: str, payload: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a facet of a dataset or job (namespace and name): (id of it, or of a field, word)."""
    if not payload:
        return
    for field, text in _texts(facet, payload):
        of_field = bool(field) and kind_of(subject) is Kind.DATASET
        id_ = node_id(FieldName(DatasetName(*name), field)) if of_field else subject
        for word in split_words(text):
            yield id_, word


def _texts(facet: str, payload: str) -> Iterable[tuple[str, str]]:
    if facet == "schema":
        return [(field.name, field.description) for field in parse_schema_fields(payload) if field.description]
    document = json.loads(payload)
    match facet:
        case "tags" | "whence_stewardTags" | "whence_assignedTags":
            return [(_text(member, "field"), _tag(member)) for member in _members(document, "tags")]
        case "ownership":
            return [("", _text(member, "name")) for member in _members(document, "owners")]
        case _:
            return [("", _text(document, "description"))]


def _tag(member: dict[str, Any]) -> str:
    value = _text(member, "value")
    return _text(member, "key") + ("" if value.lower() == "true" else f" {value}")


def _members(document: Any, key: str) -> list[dict[str, Any]]:
    members = document.get(key) if isinstance(document, dict) else None
    return [member for member in members if isinstance(member, dict)] if isinstance(members, list) else []


def _text(member: Any, key: str) -> str:
    return text_of(member.get(key)) if isinstance(member, dict) else ""
