"""API keys: `whence_<id>_<secret><checksum>`. Created, rotated and revoked here; checked against stored hashes.

The id may be shown and logged. The checksum distinguishes mistyped keys, and keys in texts, from other words without a
query to the database. The secret has 192 random bits, so Argon2 is slow enough with little memory.
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
from whence.store.security.api_key_rows import StoredKey, add_key, expire_keys, read_keys, revoke_keys

PREFIX = "whence"
_SECRET_BYTES = 24
_CHECK_DIGITS = 8
_hasher = PasswordHasher(time_cost=2, memory_cost=8 << 10, parallelism=1)


@dataclass(frozen=True, slots=True)
class Key:
    """A key in clear text, shown once, when it is created. `text` is what a client sends."""

    id: str
    text: str

    def __repr__(self) -> str:
        return f"Key({self.id!r})"


def generate_key() -> Key:
    """Generate a new key."""
    id_, secret = secrets.token_hex(4), secrets.token_hex(_SECRET_BYTES)
    body = f"{PREFIX}_{id_}_{secret}"
    return Key(id_, f"{body}{_checksum(body)}")


def parse_key(text: str) -> Key | None:
    """Parse a key; None if the text is not a key, or was mistyped."""
    parts = text.split("_")
    body, check = text[:-_CHECK_DIGITS], text[-_CHECK_DIGITS:]
    if len(parts) != 3 or parts[0] != PREFIX or not text.isascii() or _checksum(body) != check:
        return None
    return Key(parts[1], text)


def fingerprint(key: Key) -> str:
    """The first 64 bits of a key's SHA-256. They reject a wrong key quickly, and do not reveal the 192 random bits."""
    return sha256(key.text.encode()).hexdigest()[:16]


def is_hash_of(stored: StoredKey, key: Key) -> bool:
    """Whether a key matches the stored hash. Slow on purpose: some milliseconds."""
    try:
        return _hasher.verify(stored.hash, key.text)
    except (VerifyMismatchError, InvalidHashError):
        return False


def create_key(
    connection: Connection, name: str, scopes: frozenset[Action], now: int, expires_at: int | None = None
) -> Key:
    """Create a key for `key:<name>`, and store its hash. Raises AccessError if that name has a live key."""
    if list_live_keys(connection, name, now):
        raise AccessError(f"{name} already has a key: rotate or revoke it, or choose another name", 409)
    return _store_key(connection, name, scopes, now, expires_at)


def rotate_key(connection: Connection, name: str, now: int, overlap: int, expires_at: int | None = None) -> Key:
    """Create a new key for a name; the old ones stay valid for `overlap` microseconds. Raises AccessError."""
    old = list_live_keys(connection, name, now)
    if not old:
        raise AccessError(f"no valid key is named {name!r}; `whence keys list` shows all keys", 404)
    key = _store_key(connection, name, old[-1].scopes, now, expires_at)
    expire_keys(connection, [stored.id for stored in old], now + overlap)
    return key


def revoke_key(connection: Connection, id_or_name: str, now: int) -> Sequence[StoredKey]:
    """Revoke the key with an id, or all keys with a name. Raises AccessError if none of them is live."""
    revoked = [
        stored for stored in read_keys(connection) if id_or_name in (stored.id, stored.name) and stored.is_live(now)
    ]
    if not revoked:
        raise AccessError(f"no valid key has the id or name {id_or_name!r}; `whence keys list` shows all keys", 404)
    revoke_keys(connection, [stored.id for stored in revoked], now)
    return revoked


def list_live_keys(connection: Connection, name: str, now: int) -> list[StoredKey]:
    """The keys with a name that are neither revoked nor expired, oldest first."""
    return [stored for stored in read_keys(connection) if stored.name == name and stored.is_live(now)]


def _store_key(connection: Connection, name: str, scopes: frozenset[Action], now: int, expires_at: int | None) -> Key:
    key = generate_key()
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
