"""Keys, grants and entries of the audit log as JSON: the same at the terminal and over HTTP. Of keys no secret."""

from collections.abc import Mapping, Sequence
from typing import Any

from whence.govern.keys import Key
from whence.model.access import Grant, Hiding
from whence.query.instants import iso
from whence.store.security.audit import Entry
from whence.store.security.keys import StoredKey

Json = dict[str, Any]


def new_key_document(key: Key, subject: str) -> Json:
    """A key in clear: for who made it, this once."""
    return {"id": key.id, "subject": subject, "key": key.text}


def key_document(one: StoredKey, now: int) -> Json:
    """All that is kept of a key but its hash."""
    return {
        "id": one.id,
        "name": one.name,
        "state": key_state(one, now),
        "scopes": sorted(one.scopes),
        "created_at": iso(one.created_at),
        "expires_at": _iso(one.expires_at),
        "revoked_at": _iso(one.revoked_at),
        "used_at": _iso(one.used_at),
    }


def key_state(one: StoredKey, now: int) -> str:
    """`live`, `revoked` or `expired`."""
    if one.revoked_at is not None:
        return "revoked"
    return "live" if one.is_live(now) else "expired"


def grants_document(
    grants: Mapping[str, Sequence[Grant]], hidings: Mapping[str, Sequence[Hiding]]
) -> dict[str, list[Json]]:
    """Who has which role where, and which fields are hidden from whom."""
    return {
        "grants": [
            {"subject": who, "role": one.role.name.lower(), "namespaces": one.namespaces}
            for who, several in grants.items()
            for one in several
        ],
        "hidings": [
            {"subject": who, "namespaces": one.namespaces, "datasets": one.datasets, "fields": one.fields}
            for who, several in hidings.items()
            for one in several
        ],
    }


def entry_document(number: int, one: Entry) -> Json:
    """An entry of the audit log, with its number."""
    return {
        "number": number,
        "at": iso(one.at),
        "who": one.who,
        "action": one.action,
        "what": one.what,
        "nodes": list(one.nodes),
        "count": one.count,
        "status": one.status,
    }


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
