"""The keys of an installation, in a directory: private halves for its owner alone, and one list of public halves.

One key at most signs at a time. A key that was replaced has no private half any more; its public half stays in the
list, with the time until which it signed.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from whence.errors import EvidenceError
from whence.govern.evidence.signing.keys import Algorithm, PublicKey, SigningKey

_LIST = "keys.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKey:
    """A public key, and from when until when it signed packs (ISO 8601); `retired_at` is None if it still does."""

    id: str
    algorithm: Algorithm
    created_at: str
    retired_at: str | None
    pem: str


def list_keys(directory: Path) -> tuple[PublishedKey, ...]:
    """The public keys, the oldest first; none if the directory does not exist. Raises EvidenceError."""
    path = directory / _LIST
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[PublishedKey, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvidenceError(str(path), f"the list of keys cannot be read: {error}") from None


def keys_document(keys: Sequence[PublishedKey]) -> list[dict[str, object]]:
    """The public keys as JSON."""
    found: list[dict[str, object]] = msgspec.to_builtins(keys)
    return list(found)


def current_key(directory: Path) -> SigningKey | None:
    """The key that signs; None if there is none. Raises EvidenceError if its private half cannot be read."""
    current = next((one for one in list_keys(directory) if one.retired_at is None), None)
    if current is None:
        return None
    path = _private(directory, current.id)
    try:
        key = SigningKey.read(path.read_bytes())
    except OSError as error:
        reason = f"the private half of the key that signs cannot be read: {error.strerror}"
        raise EvidenceError(str(path), f"{reason}; run `whence evidence key rotate`") from None
    except ValueError as error:
        raise EvidenceError(str(path), f"{error}; run `whence evidence key rotate`") from None
    if key.public.id != current.id:
        raise EvidenceError(str(path), "it is another key than its name says; run `whence evidence key rotate`")
    return key


def read_public_key(path: Path) -> PublicKey:
    """Read a public key from a file in PEM. Raises EvidenceError."""
    try:
        return PublicKey.read(path.read_bytes())
    except OSError as error:
        raise EvidenceError(str(path), f"it cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise EvidenceError(str(path), str(error)) from None


def create_key(directory: Path, algorithm: Algorithm, now: str) -> PublishedKey:
    """Create the first key, or one after all others were retired. Raises EvidenceError if a key signs already."""
    keys = list_keys(directory)
    if any(one.retired_at is None for one in keys):
        raise EvidenceError(str(directory), "a key signs already; `whence evidence key rotate` replaces it")
    return _add(directory, keys, algorithm, now)


def rotate_key(directory: Path, algorithm: Algorithm | None, now: str) -> PublishedKey:
    """Replace the key that signs, by one of the same algorithm if none is given, and delete its private half.

    Raises EvidenceError if there is none.
    """
    keys = list_keys(directory)
    current = next((one for one in keys if one.retired_at is None), None)
    if current is None:
        raise EvidenceError(str(directory), "no key signs yet; run `whence evidence key create`")
    retired = [replace(one, retired_at=now) if one == current else one for one in keys]
    added = _add(directory, retired, algorithm or current.algorithm, now)
    _private(directory, current.id).unlink(missing_ok=True)
    return added


def _add(directory: Path, keys: Sequence[PublishedKey], algorithm: Algorithm, now: str) -> PublishedKey:
    key = SigningKey.generate(algorithm)
    pem = key.public.pem.decode()
    added = PublishedKey(id=key.public.id, algorithm=algorithm, created_at=now, retired_at=None, pem=pem)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(_private(directory, added.id), key.pem, 0o600)
        listed = json.dumps(keys_document([*keys, added]), indent=2).encode() + b"\n"
        _write(directory / _LIST, listed, 0o644)
    except OSError as error:
        raise EvidenceError(str(directory), f"the key cannot be written: {error.strerror}") from None
    return added


def _private(directory: Path, id_: str) -> Path:
    return directory / f"{id_}.private.pem"


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file in one step: a crash leaves the old one, or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
