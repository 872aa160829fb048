"""Which words facets say of whom: of a dataset or job, or of one of a dataset's fields."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName
from whence.model.words import words
from whence.openlineage.facets import schema_fields_in
from whence.openlineage.wire import text_of

FACETS = ("tags", "ownership", "documentation", "schema")
"""The facets that are searched: tags, owners, descriptions, and those of fields. Their places are stored."""


def told_words(name: tuple[str, str], subject: int, facet: str, payload: str) -> Iterator[tuple[int, str]]:
    """What a facet of a dataset or job (namespace and name) says: (id of it, or of a field, word)."""
    if not payload:
        return
    for field, text in _texts(facet, payload):
        of_field = bool(field) and kind_of(subject) is Kind.DATASET
        id_ = node_id(FieldName(DatasetName(*name), field)) if of_field else subject
        for word in words(text):
            yield id_, word


def _texts(facet: str, payload: str) -> Iterable[tuple[str, str]]:
    if facet == "schema":
        return [(one.name, one.description) for one in schema_fields_in(payload) if one.description]
    said = json.loads(payload)
    match facet:
        case "tags":
            return [(_text(one, "field"), _tag(one)) for one in _objects(said, "tags")]
        case "ownership":
            return [("", _text(one, "name")) for one in _objects(said, "owners")]
        case _:
            return [("", _text(said, "description"))]


def _tag(one: dict[str, Any]) -> str:
    value = _text(one, "value")
    return _text(one, "key") + ("" if value.lower() == "true" else f" {value}")


def _objects(said: Any, key: str) -> list[dict[str, Any]]:
    some = said.get(key) if isinstance(said, dict) else None
    return [one for one in some if isinstance(one, dict)] if isinstance(some, list) else []


def _text(one: Any, key: str) -> str:
    return text_of(one.get(key)) if isinstance(one, dict) else ""
