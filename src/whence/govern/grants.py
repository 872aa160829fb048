"""Giving and taking roles, hiding fields, making keys with their roles: what the terminal and the API do alike."""

from dataclasses import dataclass

from sqlalchemy import Connection

from whence.errors import AccessError
from whence.govern.keys import Key, create_key
from whence.model.access import SCOPES, Action, Grant, Hiding, Role
from whence.store.security.grants import EVERYBODY, give, hide, read_grants, show, take

KINDS = ("key", "user", "group")
"""What a subject begins with."""
EVERYWHERE = "*"
"""The pattern that all namespaces fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWanted:
    """A key to make, with a role in namespaces if one is given. `lifetime` in µs, None: it does not expire."""

    name: str
    role: Role | None
    namespaces: str = EVERYWHERE
    scopes: frozenset[Action] = SCOPES
    lifetime: int | None = None


def make_key(connection: Connection, wanted: KeyWanted, now: int) -> Key:
    """Make a key, and grant what is wanted. Raises AccessError if the name has a live key."""
    expires = None if wanted.lifetime is None else now + wanted.lifetime
    key = create_key(connection, wanted.name, wanted.scopes, now, expires)
    if wanted.role is not None:
        give(connection, f"key:{wanted.name}", Grant(wanted.role, wanted.namespaces))
    return key


def give_role(connection: Connection, subject: str, grant: Grant) -> None:
    """Grant, in place of what the subject had in the same pattern. Raises AccessError if the subject is none."""
    give(connection, known_subject(subject), grant)


def take_role(connection: Connection, subject: str, namespaces: str) -> None:
    """Take a grant back. Raises AccessError if there is none."""
    if not take(connection, known_subject(subject), namespaces):
        raise AccessError(f"{subject} has no grant in {namespaces}; `whence access list` shows all", 404)


def is_last_administrator(connection: Connection, subject: str, namespaces: str) -> bool:
    """Whether nobody else is administrator everywhere."""
    others = [
        who
        for who, grants in read_grants(connection).items()
        for one in grants
        if one.role >= Role.ADMIN and one.namespaces == EVERYWHERE and who != subject
    ]
    held = any(
        one.role >= Role.ADMIN and one.namespaces == namespaces for one in read_grants(connection).get(subject, ())
    )
    return held and namespaces == EVERYWHERE and not others


def hide_fields(connection: Connection, subject: str, what: Hiding) -> None:
    """Hide fields from somebody, or everybody. Raises AccessError if the subject is none."""
    hide(connection, _anybody(subject), [what])


def show_fields(connection: Connection, subject: str, what: Hiding) -> None:
    """Hide fields no more. Raises AccessError if there is no such rule."""
    if not show(connection, _anybody(subject), what):
        raise AccessError(f"no such rule for {subject}; `whence access list` shows all", 404)


def known_subject(text: str) -> str:
    """A subject as it is written in grants. Raises AccessError if it is none."""
    kind, _, name = text.partition(":")
    if kind not in KINDS or not name:
        raise AccessError(f"{text!r} is nobody: say key:NAME, user:SUBJECT or group:NAME", 422)
    return text


def _anybody(subject: str) -> str:
    return subject if subject == EVERYBODY else known_subject(subject)
