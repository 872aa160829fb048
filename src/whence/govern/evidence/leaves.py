"""Hashes of an event's values one by one, so that values can be left out of an event and the rest still be verified.

A *leaf* is a value of the event that is no object and no list (or an empty one), with the JSON pointer to it. Its line
is `["SALT","POINTER",VALUE]` and a line end; its hash is the SHA-256 of its line. The hash of an event is the SHA-256
of the hashes of its leaves, and the hash of all events that of their keys and hashes: a Merkle tree of two levels, of
text, so that `jq` and `sha256sum` can compute it.

Salts are derived from a seed of the event. Without its salt the hash of a value that was left out cannot be compared
with a guess. The hashes are sorted, so their order tells nothing either.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from whence.openlineage.json.wire import Json, encode_canonical

_SALT_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of an event, the JSON pointer (RFC 6901) to it, and the line that is hashed, without its end."""

    pointer: str
    value: bytes
    """As canonical JSON."""
    line: str

    @property
    def hash(self) -> str:
        """The hash of the leaf, in hexadecimal."""
        return hash_line(self.line)


def seed_of(secret: bytes, key: str) -> str:
    """The seed of an event's salts, in hexadecimal. `secret` is this installation's."""
    return hmac.digest(secret or b"open", f"whence evidence:{key}".encode(), "sha256").hex()


def leaves_of(event: Json, seed: str) -> tuple[Leaf, ...]:
    """The leaves of an event, by their hashes."""
    salting = bytes.fromhex(seed)
    found = (_leaf(salting, pointer, value) for pointer, value in values_in(event))
    return tuple(sorted(found, key=lambda one: one.hash))


def values_in(event: Any, pointer: str = "") -> Iterator[tuple[str, bytes]]:
    """The pointer to each leaf of a JSON value, and its value as canonical JSON."""
    match event:
        case {**members} if members:
            for key, value in members.items():
                yield from values_in(value, f"{pointer}/{_step(str(key))}")
        case [*items] if items:
            for index, value in enumerate(items):
                yield from values_in(value, f"{pointer}/{index}")
        case _:
            yield pointer, encode_canonical(event)


def hash_line(line: str) -> str:
    """The hash of a leaf's line."""
    return sha256(f"{line}\n".encode()).hexdigest()


def hash_event(leaves: Iterable[str]) -> str:
    """The hash of an event from the hashes of its leaves."""
    return sha256("".join(f"{one}\n" for one in sorted(leaves)).encode()).hexdigest()


def hash_events(hashes: Mapping[str, str]) -> str:
    """The hash of all events of a pack: by their keys, from the hash of each."""
    return sha256("".join(f"{key} {hashes[key]}\n" for key in sorted(hashes)).encode()).hexdigest()


def _leaf(salting: bytes, pointer: str, value: bytes) -> Leaf:
    salt = hmac.digest(salting, pointer.encode(), "sha256").hex()[:_SALT_DIGITS]
    line = f'["{salt}",{encode_canonical(pointer).decode()},{value.decode()}]'
    return Leaf(pointer, value, line)


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
