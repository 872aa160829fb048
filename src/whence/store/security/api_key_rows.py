"""Stored API keys: everything but the secret."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from whence.model.access import Action
from whence.store.security.grants import bump_revision
from whence.store.security.tables import key


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key: `id` is its readable part, `hash` Argon2 of its secret part. Times in microseconds UTC."""

    id: str
    name: str
    hash: str
    scopes: frozenset[Action]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    used_at: int | None = None
    fingerprint: str | None = None
    """The beginning of its SHA-256; None for a key older than fingerprints that was not used since."""

    def is_live(self, now: int) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def read_keys(connection: Connection) -> Sequence[StoredKey]:
    """All keys, by name and time."""
    rows = connection.execute(select(key).order_by(key.c.name, key.c.created_at, key.c.id)).mappings()
    return [StoredKey(**{**row, "scopes": frozenset(map(Action, row["scopes"].split()))}) for row in rows]


def add_key(connection: Connection, one: StoredKey) -> None:
    """Store a new key."""
    connection.execute(
        insert(key).values(
            id=one.id,
            name=one.name,
            hash=one.hash,
            scopes=" ".join(sorted(one.scopes)),
            created_at=one.created_at,
            expires_at=one.expires_at,
            fingerprint=one.fingerprint,
        )
    )
    bump_revision(connection)


def expire_keys(connection: Connection, ids: Sequence[str], at: int) -> None:
    """Let keys expire at a time, if not before."""
    later = (key.c.expires_at.is_(None)) | (key.c.expires_at > at)
    connection.execute(update(key).where(key.c.id.in_(ids), later).values(expires_at=at))
    bump_revision(connection)


def revoke_keys(connection: Connection, ids: Sequence[str], at: int) -> None:
    """Revoke keys from now on."""
    connection.execute(update(key).where(key.c.id.in_(ids), key.c.revoked_at.is_(None)).values(revoked_at=at))
    bump_revision(connection)


def record_key_use(connection: Connection, ids: Sequence[str], at: int) -> None:
    """Record the last use of keys."""
    connection.execute(update(key).where(key.c.id.in_(ids)).values(used_at=at))


def keep_fingerprint(connection: Connection, id_: str, text: str) -> None:
    """Store the fingerprint of a key that has none yet."""
    connection.execute(update(key).where(key.c.id == id_, key.c.fingerprint.is_(None)).values(fingerprint=text))
    bump_revision(connection)
