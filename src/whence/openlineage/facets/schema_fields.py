"""The facet `schema`: the fields of a dataset, nested ones dotted after their parent."""

from functools import lru_cache

from whence.errors import EventError
from whence.model.events import Facet, SchemaField
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.wire import decode, objects_in, text_of
from whence.openlineage.names.naming import NO_NUL

_CACHED_FACET = 16_384


def read_schema_fields(facets: tuple[Facet, ...], at: str, notes: Notes) -> tuple[SchemaField, ...]:
    """The schema facet's fields, nested ones dotted after their parent. `at` is the dataset's JSON pointer."""
    schema = next((facet for facet in facets if facet.key == "schema" and not facet.deleted), None)
    if schema is None:
        return ()
    # A dataset has the same schema in most events, so most facets have been read before.
    read = _parse_schema_cached if len(schema.payload) <= _CACHED_FACET else _parse_schema
    try:
        fields, warnings = read(schema.payload)
    except EventError as error:
        raise EventError(f"{at}/facets/schema{error.pointer}", error.reason) from error
    for pointer, text in warnings:
        notes.add(f"{at}/facets/schema{pointer}", text)
    return fields


def parse_schema_fields(payload: str) -> tuple[SchemaField, ...]:
    """Parse the fields in the text of an accepted schema facet, nested ones dotted."""
    return (_parse_schema_cached if len(payload) <= _CACHED_FACET else _parse_schema)(payload)[0]


def _parse_schema(payload: str) -> tuple[tuple[SchemaField, ...], tuple[Note, ...]]:
    fields: list[SchemaField] = []
    notes = Notes()
    _flatten_fields(decode(payload.encode()).get("fields"), "", "/fields", fields, notes)
    return tuple(fields), notes.taken()


_parse_schema_cached = lru_cache(maxsize=4_096)(_parse_schema)


def _flatten_fields(values: object, prefix: str, at: str, fields: list[SchemaField], notes: Notes) -> None:
    for index, value in objects_in(values):
        name = value.get("name")
        if type(name) is not str or not name:
            notes.add(f"{at}/{index}/name", "a field needs a name; ignored")
            continue
        if "\0" in name:
            raise EventError(f"{at}/{index}/name", NO_NUL)
        described = {"type": text_of(value.get("type")), "description": text_of(value.get("description"))}
        fields.append(SchemaField(name=prefix + name, **described))
        if "fields" in value:
            _flatten_fields(value["fields"], f"{prefix}{name}.", f"{at}/{index}/fields", fields, notes)
