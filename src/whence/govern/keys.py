"""API keys: `whence_<id>_<secret><checksum>`. Made, rotated and revoked here; checked against what is kept of them.

The id may be shown and logged. The checksum tells a mistyped key, and a key in a text, from other words without asking
the database. The secret has 192 random bits, so that Argon2 needs little memory to be slow enough.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from sqlalchemy import Connection

from whence.errors import AccessError
from whence.model.access import Action
from whence.store.security.keys import StoredKey, add_key, end_keys, read_keys, revoke_keys

PREFIX = "whence"
_SECRET_BYTES = 24
_CHECK_DIGITS = 8
_hasher = PasswordHasher(time_cost=2, memory_cost=8 << 10, parallelism=1)


@dataclass(frozen=True, slots=True)
class Key:
    """A key in clear: it is shown once, when it is made. `text` is what a client sends."""

    id: str
    text: str

    def __repr__(self) -> str:
        return f"Key({self.id!r})"


def new_key() -> Key:
    """A key that nobody has."""
    id_, secret = secrets.token_hex(4), secrets.token_hex(_SECRET_BYTES)
    body = f"{PREFIX}_{id_}_{secret}"
    return Key(id_, f"{body}{_checksum(body)}")


def read_key(text: str) -> Key | None:
    """The key that a text is; None if it is none, or was mistyped."""
    parts = text.split("_")
    body, check = text[:-_CHECK_DIGITS], text[-_CHECK_DIGITS:]
    if len(parts) != 3 or parts[0] != PREFIX or not text.isascii() or _checksum(body) != check:
        return None
    return Key(parts[1], text)


def fingerprint(key: Key) -> str:
    """The first 64 bits of SHA-256 of a key: they tell a wrong key at once, and say nothing of 192 random bits."""
    return sha256(key.text.encode()).hexdigest()[:16]


def is_hash_of(stored: StoredKey, key: Key) -> bool:
    """Whether this is the key that is kept. Slow on purpose: some milliseconds."""
    try:
        return _hasher.verify(stored.hash, key.text)
    except (VerifyMismatchError, InvalidHashError):
        return False


def create_key(
    connection: Connection, name: str, scopes: frozenset[Action], now: int, expires_at: int | None = None
) -> Key:
    """Make a key for `key:<name>`, and keep its hash. Raises AccessError if that name has a live key."""
    if live_keys(connection, name, now):
        raise AccessError(f"{name} has a key: rotate or revoke it, or choose another name", 409)
    return _keep(connection, name, scopes, now, expires_at)


def rotate_key(connection: Connection, name: str, now: int, overlap: int, expires_at: int | None = None) -> Key:
    """Make a new key for a name; the old ones are good for `overlap` microseconds more. Raises AccessError."""
    old = live_keys(connection, name, now)
    if not old:
        raise AccessError(f"no key of the name {name!r} is live; `whence keys list` shows them", 404)
    key = _keep(connection, name, old[-1].scopes, now, expires_at)
    end_keys(connection, [one.id for one in old], now + overlap)
    return key


def revoke_key(connection: Connection, named: str, now: int) -> Sequence[StoredKey]:
    """Revoke the key of an id, or all of a name. Raises AccessError if there is none that is live."""
    found = [one for one in read_keys(connection) if named in (one.id, one.name) and one.is_live(now)]
    if not found:
        raise AccessError(f"no live key has the id or the name {named!r}; `whence keys list` shows them", 404)
    revoke_keys(connection, [one.id for one in found], now)
    return found


def live_keys(connection: Connection, name: str, now: int) -> list[StoredKey]:
    """The keys of a name that are neither revoked nor expired, oldest first."""
    return [one for one in read_keys(connection) if one.name == name and one.is_live(now)]


def _keep(connection: Connection, name: str, scopes: frozenset[Action], now: int, expires_at: int | None) -> Key:
    key = new_key()
    hash_ = _hasher.hash(key.text)
    add_key(
        connection,
        StoredKey(
            id=key.id,
            name=name,
            hash=hash_,
            scopes=scopes,
            created_at=now,
            expires_at=expires_at,
            fingerprint=fingerprint(key),
        ),
    )
    return key


def _checksum(body: str) -> str:
    return f"{crc32(body.encode()):08x}"
