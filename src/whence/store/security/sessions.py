"""Sessions of people who signed in, and pending logins. The browser's token is stored only as its hash."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from whence.store.security.tables import login, session


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session. It ends `idle` after its last use, at `expires_at`, or when it is revoked.

    `key` is the id of the API key that began it, if any: such a session ends with the key.
    """

    subject: str
    groups: tuple[str, ...]
    created_at: int
    used_at: int
    expires_at: int
    revoked_at: int | None = None
    key: str | None = None

    def is_live(self, now: int, idle: int) -> bool:
        """Whether the session is valid; `idle` in microseconds."""
        return self.revoked_at is None and now < min(self.expires_at, self.used_at + idle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login that waits for the provider's response."""

    nonce: str
    verifier: str
    target: str
    expires_at: int


def hash_token(token: str) -> str:
    """The stored form of a token."""
    return sha256(token.encode()).hexdigest()


def add_session(connection: Connection, token: str, one: Session) -> None:
    """Begin a session, and delete expired ones."""
    connection.execute(delete(session).where(session.c.expires_at < one.created_at))
    connection.execute(
        insert(session).values(
            id=hash_token(token),
            subject=one.subject,
            groups=json.dumps(one.groups),
            created_at=one.created_at,
            used_at=one.used_at,
            expires_at=one.expires_at,
            key=one.key,
        )
    )


def find_session(connection: Connection, token: str) -> Session | None:
    """The session of a token, live or not."""
    row = connection.execute(select(session).where(session.c.id == hash_token(token))).one_or_none()
    return None if row is None else _session(row)


def _session(row: Any) -> Session:
    return Session(
        subject=row.subject,
        groups=tuple(json.loads(row.groups)),
        created_at=row.created_at,
        used_at=row.used_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        key=row.key,
    )


def sessions_of(connection: Connection, subject: str, now: int, idle: int) -> Mapping[str, Session]:
    """The live sessions of a subject by the hashes of their tokens, the most recently used first."""
    query = select(session).where(session.c.subject == subject).order_by(session.c.used_at.desc(), session.c.id)
    found = {row.id: _session(row) for row in connection.execute(query)}
    return {id_: one for id_, one in found.items() if one.is_live(now, idle)}


def read_members(connection: Connection) -> Mapping[str, frozenset[str]]:
    """The subjects of the stored sessions, by `group:NAME`. Who did not sign in lately is not among them."""
    found: dict[str, set[str]] = {}
    for subject, groups in connection.execute(select(session.c.subject, session.c.groups)):
        for group in json.loads(groups):
            found.setdefault(f"group:{group}", set()).add(subject)
    return {group: frozenset(members) for group, members in found.items()}


def use_session(connection: Connection, token: str, at: int) -> None:
    """Record the last use of a session."""
    connection.execute(update(session).where(session.c.id == hash_token(token)).values(used_at=at))


def revoke_session(connection: Connection, token: str, at: int) -> None:
    """End one session."""
    connection.execute(update(session).where(session.c.id == hash_token(token)).values(revoked_at=at))


def revoke_session_of(connection: Connection, subject: str, begins: str, at: int) -> int:
    """End the sessions of a subject whose ids have a prefix. Returns how many there were."""
    own = (session.c.subject == subject, session.c.id.startswith(begins, autoescape=True))
    return connection.execute(
        update(session).where(*own, session.c.revoked_at.is_(None)).values(revoked_at=at)
    ).rowcount


def revoke_sessions(connection: Connection, subject: str, at: int) -> int:
    """End all sessions of a subject. Returns how many there were."""
    live = (session.c.subject == subject, session.c.revoked_at.is_(None))
    return connection.execute(update(session).where(*live).values(revoked_at=at)).rowcount


def add_login(connection: Connection, state: str, one: Login, now: int) -> None:
    """Store a login until the provider responds, and delete abandoned ones."""
    connection.execute(delete(login).where(login.c.expires_at < now))
    values = {"nonce": one.nonce, "verifier": one.verifier, "target": one.target, "expires_at": one.expires_at}
    connection.execute(insert(login).values(id=hash_token(state), **values))


def pop_login(connection: Connection, state: str, now: int) -> Login | None:
    """Return the login of a state, and delete it."""
    found = connection.execute(select(login).where(login.c.id == hash_token(state))).one_or_none()
    gone = connection.execute(delete(login).where(login.c.id == hash_token(state))).rowcount
    if found is None or not gone or found.expires_at <= now:
        return None
    return Login(nonce=found.nonce, verifier=found.verifier, target=found.target, expires_at=found.expires_at)
