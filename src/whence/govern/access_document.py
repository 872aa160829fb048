"""Keys, grants and entries of the audit log as JSON: the same at the terminal and over HTTP. Of keys no secret."""

from collections.abc import Mapping, Sequence
from typing import Literal

from typing_extensions import TypedDict

from whence.govern.access_review import Kept, ReviewedGrant
from whence.govern.api_keys import Key
from whence.model.access import Grant, Hiding, ReadingRestriction
from whence.query.answers.instants import iso
from whence.store.security.api_key_rows import StoredKey
from whence.store.security.audit import Entry

KeyState = Literal["live", "revoked", "expired"]


class NewKey(TypedDict):
    """A new key with its secret, which is shown this once."""

    id: str
    subject: str
    key: str


class KeyDocument(TypedDict):
    """A key without its secret."""

    id: str
    name: str
    state: KeyState
    scopes: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    used_at: str | None


class GrantDocument(TypedDict):
    """A role of `key:NAME`, `user:SUBJECT` or `group:NAME` in the namespaces that match a pattern."""

    subject: str
    role: str
    namespaces: str


class HidingDocument(TypedDict):
    """Fields that a subject (`*`: everybody) may not see, unless they are steward there."""

    subject: str
    namespaces: str
    datasets: str
    fields: str


class RestrictionDocument(TypedDict):
    """Columns of a namespace that a policy hides from all but stewards there and its `readers` (subjects)."""

    policy: str
    namespace: str
    readers: list[str]
    columns: list[str]


class GrantsDocument(TypedDict):
    """All grants, all rules that hide fields, and the columns that policies restrict."""

    grants: list[GrantDocument]
    hidings: list[HidingDocument]
    restrictions: list[RestrictionDocument]


class AuditEntry(TypedDict):
    """An entry of the audit log."""

    number: int
    at: str
    who: str
    action: str
    what: str
    nodes: list[str]
    count: int
    status: int


class KeptDocument(TypedDict):
    """The decision to keep a grant."""

    by: str
    at: str
    reason: str


class ReviewedGrantDocument(TypedDict):
    """A grant with its use, the columns with sensitive data that it shows by grade, and what speaks against it."""

    subject: str
    role: str
    namespaces: str
    used_at: str | None
    strongest_use: str | None
    columns: dict[str, int]
    kept: KeptDocument | None
    concerns: list[str]


def new_key_document(key: Key, subject: str) -> NewKey:
    """A key in clear: for who made it, this once."""
    return {"id": key.id, "subject": subject, "key": key.text}


def key_document(one: StoredKey, now: int) -> KeyDocument:
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


def key_state(one: StoredKey, now: int) -> KeyState:
    """`live`, `revoked` or `expired`."""
    if one.revoked_at is not None:
        return "revoked"
    return "live" if one.is_live(now) else "expired"


def grants_document(
    grants: Mapping[str, Sequence[Grant]],
    hidings: Mapping[str, Sequence[Hiding]],
    restrictions: Sequence[ReadingRestriction],
) -> GrantsDocument:
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
        "restrictions": [_restriction_document(one, space) for one in restrictions for space in sorted(one.namespaces)],
    }


def _restriction_document(one: ReadingRestriction, namespace: str) -> RestrictionDocument:
    fields = sorted(str(field) for field in one.fields if field.dataset.namespace == namespace)
    return {"policy": one.policy, "namespace": namespace, "readers": list(one.readers), "columns": fields}


def entry_document(number: int, one: Entry) -> AuditEntry:
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


def review_document(one: ReviewedGrant) -> ReviewedGrantDocument:
    """A grant of an access review."""
    return {
        "subject": one.subject,
        "role": one.grant.role.name.lower(),
        "namespaces": one.grant.namespaces,
        "used_at": _iso(one.used_at),
        "strongest_use": None if one.strongest is None else one.strongest.name.lower(),
        "columns": dict(one.columns),
        "kept": None if one.kept is None else _kept_document(one.kept),
        "concerns": [concern.value for concern in one.concerns],
    }


def _kept_document(one: Kept) -> KeptDocument:
    return {"by": one.by, "at": iso(one.at), "reason": one.reason}


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
