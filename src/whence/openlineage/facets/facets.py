"""Facets: read as they are, validated by key and shape, and encoded for the store."""

from whence.errors import EventError
from whence.model.events import Facet
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.json.wire import Json, encode_canonical, members_of, pointer_step
from whence.openlineage.names.naming import NO_NUL

MAX_KEY_BYTES = 1000

Facets = dict[str, Json]


def read_facets(entity: Json, member: str, at: str, notes: Notes) -> Facets:
    """The facets under `entity[place]` that are objects, ordered by key. Raises EventError for invalid keys."""
    facets = entity.get(member)
    if type(facets) is not dict:
        if facets is not None:
            notes.add(f"{at}/{member}", "is not an object; ignored")
        return {}
    valid: Facets = {}
    for key, facet in members_of(facets):
        if "\0" in key or len(key) * 4 > MAX_KEY_BYTES:
            _check_key(key, f"{at}/{member}")
        if type(facet) is not dict:
            notes.add(f"{at}/{member}{pointer_step(key)}", f"a facet must be an object, not {_kind_of(facet)}; dropped")
            continue
        if "_schemaURL" not in facet:
            notes.add(f"{at}/{member}{pointer_step(key)}", "no _schemaURL")
        valid[key] = facet
    return valid


def encode_static_facets(facets: Facets) -> tuple[Facet, ...]:
    """Encode job and dataset facets, which hold until they are replaced or deleted."""
    return tuple(
        [Facet(key=key, payload=_encode_payload(facet), deleted=is_deleted(facet)) for key, facet in facets.items()]
    )


def encode_run_facets(facets: Facets, at: str, notes: Notes) -> tuple[Facet, ...]:
    """Encode run, input and output facets, on which `_deleted` has no meaning (reference rule 24)."""
    note_deleted(facets, at, notes)
    return tuple([Facet(key=key, payload=_encode_payload(one)) for key, one in facets.items()])


def note_deleted(facets: Facets, at: str, notes: Notes) -> None:
    """Warn about deletion markers among run, input and output facets."""
    for key, facet in facets.items():
        if "_deleted" in facet and is_deleted(facet):
            notes.add(f"{at}{pointer_step(key)}", "_deleted is for job and dataset facets only; ignored")


def _encode_payload(facet: Json) -> str:
    return encode_canonical(facet).decode()


def is_deleted(facet: Json) -> bool:
    """Whether the facet is a deletion marker."""
    return facet.get("_deleted") is True


def active_facet(facets: Facets, key: str) -> Json | None:
    """The facet with this key, or None if it is absent or deleted."""
    facet = facets.get(key)
    return None if facet is None or is_deleted(facet) else facet


def _check_key(key: str, at: str) -> None:
    if "\0" in key:
        raise EventError(f"{at}{pointer_step(key)}", NO_NUL)
    if len(key.encode()) > MAX_KEY_BYTES:
        raise EventError(f"{at}{pointer_step(key)}", f"a facet key longer than {MAX_KEY_BYTES} bytes")


def _kind_of(value: object) -> str:
    return {str: "a text", list: "a list", type(None): "null", bool: "a boolean"}.get(type(value), "a number")
