"""Granting and revoking roles, hiding fields, creating keys with roles: shared by the CLI and the API."""

from dataclasses import dataclass

from sqlalchemy import Connection

from whence.errors import AccessError
from whence.govern.api_keys import Key, create_key
from whence.model.access import SCOPES, Action, Grant, Hiding, Role
from whence.store.security.grants import EVERYBODY, add_grant, add_hidings, read_grants, remove_grant, remove_hiding

KINDS = ("key", "user", "group")
"""The kinds of subjects, their prefixes."""
EVERYWHERE = "*"
"""The pattern that all namespaces match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """A key to create, with a role in namespaces if `role` is given. `lifetime` is in µs; None: it does not expire."""

    name: str
    role: Role | None
    namespaces: str = EVERYWHERE
    scopes: frozenset[Action] = SCOPES
    lifetime: int | None = None


def make_key(connection: Connection, request: KeyRequest, now: int) -> Key:
    """Create a key, and grant the requested role. Raises AccessError if the name has a live key."""
    expires = None if request.lifetime is None else now + request.lifetime
    key = create_key(connection, request.name, request.scopes, now, expires)
    if request.role is not None:
        add_grant(connection, f"key:{request.name}", Grant(request.role, request.namespaces))
    return key


def give_role(connection: Connection, subject: str, grant: Grant) -> None:
    """Grant a role, replacing the subject's grant for the same pattern. Raises AccessError for an invalid subject."""
    add_grant(connection, require_subject(subject), grant)


def take_role(connection: Connection, subject: str, namespaces: str) -> None:
    """Revoke a grant. Raises AccessError if it does not exist."""
    require_grant(connection, subject, namespaces)
    remove_grant(connection, subject, namespaces)


def require_grant(connection: Connection, subject: str, namespaces: str) -> Grant:
    """The grant that has exactly this pattern. Raises AccessError if it does not exist."""
    for one in read_grants(connection).get(require_subject(subject), ()):
        if one.namespaces == namespaces:
            return one
    raise AccessError(f"{subject} has no grant in {namespaces}; `whence access list` shows all", 404)


def is_last_administrator(connection: Connection, subject: str, namespaces: str) -> bool:
    """Whether this grant makes the subject the only administrator of all namespaces."""
    others = [
        other
        for other, grants in read_grants(connection).items()
        for grant in grants
        if grant.role >= Role.ADMIN and grant.namespaces == EVERYWHERE and other != subject
    ]
    held = any(
        grant.role >= Role.ADMIN and grant.namespaces == namespaces
        for grant in read_grants(connection).get(subject, ())
    )
    return held and namespaces == EVERYWHERE and not others


def hide_fields(connection: Connection, subject: str, hiding: Hiding) -> None:
    """Hide fields from a subject, or from everybody. Raises AccessError for an invalid subject."""
    add_hidings(connection, _require_subject_or_everybody(subject), [hiding])


def show_fields(connection: Connection, subject: str, hiding: Hiding) -> None:
    """Remove a rule that hides fields. Raises AccessError if it does not exist."""
    if not remove_hiding(connection, _require_subject_or_everybody(subject), hiding):
        raise AccessError(f"{subject} has no such rule; `whence access list` shows all", 404)


def require_subject(text: str) -> str:
    """The subject, if it is valid in grants. Raises AccessError otherwise."""
    kind, _, name = text.partition(":")
    if kind not in KINDS or not name:
        raise AccessError(f"{text!r} is not a subject: write key:NAME, user:SUBJECT or group:NAME", 422)
    return text


def _require_subject_or_everybody(subject: str) -> str:
    return subject if subject == EVERYBODY else require_subject(subject)
